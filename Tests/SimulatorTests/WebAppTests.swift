import Cryptography
import Foundation
import HTTPClient
import Simulator
import TestSupport
import Testing
import Vocabulary

/// The web app's files and its way to the API, without a browser.
@Suite struct WebAppTests {
  @Test(arguments: [
    ("/app/", "text/html; charset=utf-8", "service worker"),
    ("/cook-suggest/cs_abc", "text/html; charset=utf-8", ""),
    ("/app/app.js", "text/javascript; charset=utf-8", "/app/service-worker.js"),
    ("/app/service-worker.js", "text/javascript; charset=utf-8", "notificationclick"),
    ("/app/app.css", "text/css; charset=utf-8", ".resolved"),
    ("/app/manifest.webmanifest", "application/manifest+json", "standalone"),
    ("/icons/notification.png", "image/png", ""),
  ])
  func `its files are served`(path: String, type: String, words: String) throws {
    let running = try RunningSimulator()
    let answer = try HTTPClient().send("GET", running.control + path)
    #expect(answer.status == 200)
    #expect(answer.headers["content-type"] == type)
    #expect(answer.headers["content-security-policy"]?.contains("script-src 'self'") == true)
    #expect(answer.headers["service-worker-allowed"] == "/")
    if path == "/icons/notification.png" {
      #expect(answer.body.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    } else if type.hasPrefix("text/html") {
      #expect(answer.text.contains("/app/app.js"))
    } else {
      #expect(answer.text.contains(words))
    }
  }

  @Test func `a call goes to the API with the page's own token`() throws {
    let running = try RunningSimulator()
    let answer = try HTTPClient().send(
      "POST", running.control + "/app/api/notifications/n%2F1/seen",
      headers: ["authorization": "Bearer page", "x-other": "not passed on"])
    #expect(answer.status == 200)
    #expect(running.api.calls.map(\.path) == ["/api/notifications/n/1/seen"])
    #expect(running.api.calls.map(\.caller) == ["Bearer page"])
  }

  @Test func `what has not changed is not sent again`() throws {
    let running = try RunningSimulator()
    running.api.tell(["notifications": []])
    let path = running.control + "/app/api/notifications?limit=5"
    let first = try HTTPClient().send("GET", path)
    #expect(first.status == 200)
    let etag = try #require(first.headers["etag"])
    #expect(try HTTPClient().send("GET", path, headers: ["if-none-match": etag]).status == 304)
  }

  @Test(arguments: [401, 422, 503])
  func `a refusal of the API reaches the page`(status: Int) throws {
    let running = try RunningSimulator()
    running.api.answer(status)
    let answer = try HTTPClient().send(
      "POST", running.control + "/app/api/webpush/subscriptions", body: Data("{}".utf8))
    #expect(answer.status == status)
  }

  @Test(arguments: [["origin": "https://evil.example"], ["host": "evil.example"]])
  func `a page of somebody else reaches nothing`(headers: [String: String]) throws {
    let running = try RunningSimulator()
    for path in ["/app/", "/app/api/notifications", "/browsers"] {
      #expect(try HTTPClient().send("GET", running.control + path, headers: headers).status == 403)
    }
  }
}

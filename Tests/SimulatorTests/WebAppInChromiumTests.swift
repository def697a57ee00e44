import Cryptography
import Foundation
import HTTPClient
import Pushes
import Simulator
import TestSupport
import Testing
import Vocabulary

/// The web app in a real browser, with real `push` events: what the stand-in for a push service
/// decrypted is handed to Chromium's own service worker.
///
/// With `LOCKSTEP_SCREENSHOTS=DIR` pictures are kept there, to be looked at.
@Suite(.serialized) struct WebAppInChromiumTests {
  @Test func `a page subscribes with the server's key and tells the server`() throws {
    let opened = try OpenedWebApp()
    #expect(opened.page.becomes(opened.text("welcome-title"), "Gemeinsam Essen planen"))
    // The token is nowhere to be seen.
    #expect(opened.page.becomes("location.href", .string("\(opened.running.control)/app/")))
    try opened.keepScreenshot("1-before")
    try opened.turnOn()
    let key = try #require(Base64URL.decode(Pushing.key.id))
    #expect(
      try opened.page.value("window.asked")
        == ["visible": true, "key": .array(key.map { .integer(Int64($0)) })])
    let call = opened.running.api.calls.last
    #expect(call?.path == "/api/webpush/subscriptions")
    #expect(call?.body == opened.subscription.subscription)
    #expect(call?.caller.hasPrefix("Bearer ey") == true)
    #expect(opened.errors == [])
    try opened.keepScreenshot("2-subscribed")
  }

  @Test func `a push is shown with icon and link, and a click leads there`() throws {
    let opened = try OpenedWebApp()
    try opened.turnOn()
    let answer = try opened.running.webPush(
      Pushing.payload(origin: opened.running.control), to: opened.subscription)
    #expect(answer.status == 201)
    try opened.push(opened.decrypted())
    let link = "\(opened.running.control)/cook-suggest/cs_abc"
    #expect(
      opened.page.becomes(
        OpenedWebApp.shown,
        [
          [
            "Plan mit Dennis das Essen", "Tippe, um mitzuplanen", .string(Pushing.dedupeKey), "de",
            .string("\(opened.running.control)/icons/notification.png"), .string(link),
          ]
        ]))
    #expect(opened.page.becomes(opened.text("badge"), "1"))
    // The same again, as after a lost answer: one tag, one notification.
    try opened.push(opened.decrypted())
    #expect(opened.page.becomes("\(OpenedWebApp.shown).then((all) => all.length)", 1))
    try opened.keepScreenshot("3-pushed")
    #expect(try opened.click() == 0)
    #expect(opened.page.becomes("location.href", .string(link)))
    #expect(opened.page.becomes(opened.text("session-label"), "Dennis füllt aus"))
    #expect(opened.page.becomes("document.getElementById('join').hidden", false))
    try opened.keepScreenshot("4-session")
    #expect(opened.errors == [])
  }

  @Test func `without a page a click opens one`() throws {
    let opened = try OpenedWebApp()
    try opened.turnOn()
    try opened.push(
      """
      {"web_push": 8030, "notification": {"title": "a",
        "navigate": "https://app.example/cook-suggest/cs_abc"}}
      """)
    #expect(opened.page.becomes("\(OpenedWebApp.shown).then((all) => all.length)", 1))
    _ = try opened.click(
      before: """
        Object.defineProperty(
          clients, "openWindow", { value: async (url) => { self.opened = url; } });
        """)
    #expect(
      try opened.worker().value("self.opened") == "https://app.example/cook-suggest/cs_abc")
  }

  @Test(arguments: ["not JSON", "{\"web_push\": 8030}", "{\"notification\": {\"title\": \"a\"}}"])
  func `a push that cannot be read still shows something`(text: String) throws {
    let opened = try OpenedWebApp()
    try opened.turnOn()
    try opened.push(text)
    #expect(
      opened.page.becomes("\(OpenedWebApp.shown).then((all) => all[0]?.[0])", "Was koch ich draus?")
    )
  }

  @Test func `a resolved invitation turns grey and its notification goes`() throws {
    let opened = try OpenedWebApp()
    try opened.turnOn()
    try opened.push(
      String(decoding: Pushing.payload(origin: opened.running.control), as: UTF8.self))
    #expect(opened.page.becomes(opened.text("badge"), "1"))
    #expect(opened.page.becomes("\(OpenedWebApp.shown).then((all) => all.length)", 1))
    #expect(try opened.page.value("document.querySelectorAll('#entries .unread').length") == 1)
    _ = try opened.page.value("document.getElementById('bell').click()")
    #expect(opened.page.becomes("document.getElementById('inbox').hidden", false))
    #expect(
      becomesTrue { opened.running.api.calls.contains { $0.path == "/api/notifications/n1/seen" } })
    try opened.keepScreenshot("5-bell")
    let colour = "getComputedStyle(document.querySelector('#entries li b')).color"
    let before = try opened.page.value(colour)
    opened.running.api.tell(OpenedWebApp.answers(resolved: true))
    #expect(opened.page.becomes("document.querySelector('#entries li').className", "resolved"))
    #expect(opened.page.becomes("document.getElementById('badge').hidden", true))
    #expect(opened.page.becomes("\(OpenedWebApp.shown).then((all) => all.length)", 0))
    #expect(
      try opened.page.value("document.querySelector('#entries small').textContent.split(' · ')[1]")
        == "abgelaufen")
    #expect(try opened.page.value(colour) != before)
    try opened.keepScreenshot("6-grey")
    #expect(opened.errors == [])
  }

  @Test func `a browser that may show nothing says so`() throws {
    let opened = try OpenedWebApp(grants: false)
    #expect(
      opened.page.becomes("\(opened.text("status")).startsWith('Dieser Browser darf keine')", true))
    try opened.keepScreenshot("7-denied")
  }

  @Test func `the simulator's page shows phones and browsers with their bells`() throws {
    let opened = try OpenedWebApp()
    let order: JSONValue = [
      "id": "jaqueline", "user_id": "jaqueline", "name": "Jaqueline", "token": "jwt", "bell": true,
    ]
    #expect(try opened.running.call("POST", "/phones", order).0 == 201)
    let phone = try #require(opened.running.phone("jaqueline"))
    let alert: JSONValue = [
      "aps": [
        "alert": ["title": "Plan mit Dennis das Essen", "body": "Tippe, um mitzuplanen"],
        "sound": "default",
      ], "link": "/cook-suggest/cs_abc", "dedupe_key": .string(Pushing.dedupeKey),
    ]
    let headers: [String: String?] = [
      "apns-push-type": "alert", "apns-topic": Making.bundle,
      "apns-collapse-id": Pushing.dedupeKey,
    ]
    #expect(
      try opened.running.push(alert, to: phone.identity.alertToken, headers).status == 200)
    #expect(try opened.running.webPush(Pushing.payload(), to: opened.subscription).status == 201)
    let page = try ChromiumTarget.page(
      opened.chromium, url: "\(opened.running.control)/", width: 1280, height: 1000)
    #expect(
      page.becomes(
        "document.querySelector('.phone .banner b')?.textContent",
        "Plan mit Dennis das Essen"))
    #expect(page.becomes("document.querySelector('.phone .banner .note')?.textContent", "♪"))
    #expect(page.becomes("document.querySelector('.phone .face i')?.textContent", "1"))
    #expect(
      page.becomes(
        "document.querySelector('.browser .toast b')?.textContent",
        "Plan mit Dennis das Essen"))
    try opened.keepScreenshot("8-simulator", of: page)
    opened.running.api.tell(OpenedWebApp.answers(resolved: true))
    #expect(page.becomes("document.querySelector('.phone .bell li')?.className", "over"))
    #expect(page.becomes("document.querySelector('.phone .face i') === null", true))
    try opened.keepScreenshot("9-simulator-grey", of: page)
  }
}

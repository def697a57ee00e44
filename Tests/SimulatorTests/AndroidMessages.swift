import Cryptography
import Foundation
import HTTPClient
import Pushes
import Simulator
import TestSupport
import Testing
import Vocabulary

/// Sends messages as an `fcm-sender` does, to a simulator that knows its project.
final class AndroidMessages {
  let running: RunningSimulator
  private let account: ServiceAccount
  private let client: HTTPClient
  private let accessToken: String

  /// `change`: of the simulator's settings besides.
  init(change: (inout SimulatorSettings) -> Void = { _ in }) throws {
    let file: JSONValue = [
      "project_id": "cook-example", "client_email": "push@cook-example.example",
      "private_key": .string(RSASigningKey.generate().pem),
      "token_uri": "https://localhost/token",
    ]
    let account = try ServiceAccount(json: file.encoded)
    running = try RunningSimulator {
      $0.fcmProject = FCMProject(
        projectID: account.projectID, clientEmail: account.clientEmail, key: account.key,
        tokenURL: account.tokenURL)
      change(&$0)
    }
    self.account = account
    client = HTTPClient(caFile: running.simulator.authorityFile)
    let answer = try client.send(
      "POST", "https://localhost:\(running.simulator.fcmPort)/token",
      headers: ["content-type": "application/x-www-form-urlencoded"],
      body: account.tokenRequest(now: Making.now))
    guard case .string(let token)? = try JSONValue(parsing: answer.body)["access_token"] else {
      throw Chromium.Trouble(description: "no access token: \(answer.text)")
    }
    accessToken = token
  }

  /// An Android phone of the user, its token registered.
  func add(_ user: String, id: String) throws {
    let order: JSONValue = [
      "id": .string(id), "user_id": .string(user), "name": .string(user.capitalized),
      "token": "jwt",
    ]
    try #require(try running.call("POST", "/androids", order).0 == 201)
  }

  func token(of id: String) throws -> String {
    try #require(running.simulator.world.read { $0.androids.phones[id]?.identity.token })
  }

  /// The state of one card.
  ///
  /// - Returns: the status, and FCM's error code where there is one.
  @discardableResult
  func send(
    _ rev: Int, event: String = "update", kind: String = "CookSuggestActivityAttributes",
    key: String = "cooksuggest:cs_abc:jaqueline", attributes: JSONValue, state: JSONValue,
    to token: String
  ) throws -> (Int, JSONValue?) {
    func text(_ value: JSONValue) -> JSONValue {
      .string(String(decoding: value.encoded, as: UTF8.self))
    }
    let message: JSONValue = [
      "token": .string(token), "android": ["priority": "HIGH", "collapse_key": .string(key)],
      "data": [
        "event": .string(event), "rev": .string("\(rev)"), "contextKey": .string(key),
        "sessionId": .string(String(key.split(separator: ":")[1])), "kind": .string(kind),
        "timestamp": .string("\(Making.now.seconds)"), "attributes": text(attributes),
        "contentState": text(state),
      ],
    ]
    let port = running.simulator.fcmPort
    let answer = try client.send(
      "POST", "https://localhost:\(port)/v1/projects/\(account.projectID)/messages:send",
      headers: ["authorization": "Bearer \(accessToken)", "content-type": "application/json"],
      body: JSONValue.object(["message": message]).encoded)
    guard case .array(let details)? = try JSONValue(parsing: answer.body)["error"]?["details"]
    else { return (answer.status, nil) }
    return (answer.status, details.first?["errorCode"])
  }
}

@Suite struct AndroidTokenTests {
  @Test func `another token is registered, and the one before leads nowhere`() throws {
    let messages = try AndroidMessages()
    try messages.add("jaqueline", id: "pixel")
    let first = try messages.token(of: "pixel")
    let attributes = Making.json(Making.attributes())
    func send(_ rev: Int, to token: String) throws -> (Int, JSONValue?) {
      try messages.send(
        rev, attributes: attributes, state: Making.json(Making.state(rev)), to: token)
    }
    #expect(try send(1, to: first).0 == 200)
    #expect(try messages.running.call("POST", "/androids/pixel/rotate").0 == 200)
    let second = try messages.token(of: "pixel")
    #expect(second != first)
    #expect(
      becomesTrue {
        messages.running.api.calls.filter { $0.path == "/api/fcm/register" }
          .map { $0.body["token"] } == [.string(first), .string(second)]
      })
    let old = try send(2, to: first)
    #expect(old.0 == 404)
    #expect(old.1 == "UNREGISTERED")
    #expect(try send(2, to: second).0 == 200)
    let seen = try messages.running.call("GET", "/androids/pixel").1
    #expect(seen["cards"]?[0]?["rev"] == 2)
  }
}

extension JSONValue {
  subscript(place: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(place) else { return nil }
    return elements[place]
  }
}

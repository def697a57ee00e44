import Cryptography
import Foundation
import HTTPClient
import Pushes
import Simulator
import TestSupport
import Vocabulary

/// A valid Web Push; a test names only what it is about.
enum Pushing {
  static let key = VAPIDKey(.generate())
  static let dedupeKey = "cs-invite-cs_abc"

  static func payload(
    _ dedupeKey: String = dedupeKey, origin: String = "http://127.0.0.1:8181"
  ) throws -> Data {
    try WebPushPayload(
      title: "Plan mit Dennis das Essen", body: "Tippe, um mitzuplanen",
      link: "/cook-suggest/cs_abc", dedupeKey: dedupeKey, sessionID: SessionID("cs_abc"),
      language: "de",
      icon: "✨", badge: 1
    ).encoded(origin: WebOrigin(origin))
  }

  static func claims(origin: String, _ changes: [String: JSONValue?] = [:]) -> JSONValue {
    var all: [String: JSONValue] = [
      "aud": .string(origin), "exp": .integer(Making.now.seconds + 43_200),
      "sub": "mailto:push@app.example",
    ]
    for (name, value) in changes { all[name] = value }
    return .object(all)
  }

  static func authorization(
    origin: String, _ changes: [String: JSONValue?] = [:], signedBy signer: VAPIDKey = key,
    as named: VAPIDKey = key
  ) -> String {
    let token = JSONWebToken.signed(
      claims: claims(origin: origin, changes), with: signer.signing, keyID: nil, type: "JWT")
    return "vapid t=\(token), k=\(named.id)"
  }

  /// Headers of an invitation; a change with nil leaves one out.
  static func headers(origin: String, _ changes: [String: String?] = [:]) -> [String: String] {
    var all = [
      "authorization": authorization(origin: origin), "ttl": "600", "urgency": "high",
      "topic": WebPushTopic.of(dedupeKey), "content-encoding": "aes128gcm",
      "content-type": "application/octet-stream",
    ]
    for (name, value) in changes { all[name] = value }
    return all
  }

  /// Encrypted for a subscription as `PushSubscription.toJSON()` writes it.
  static func body(_ plaintext: Data, for subscription: JSONValue) throws -> [UInt8] {
    guard case .string(let p256dh)? = subscription["keys"]?["p256dh"],
      case .string(let auth)? = subscription["keys"]?["auth"],
      let body = WebPushEncryption.body(
        of: Array(plaintext), p256dh: try WebPushKeys.point(p256dh),
        auth: try WebPushKeys.secret(auth))
    else { throw DecodingProblemOfTest() }
    return body
  }

  struct DecodingProblemOfTest: Error {}
}

extension RunningSimulator {
  var webPushOrigin: String { "https://localhost:\(simulator.webPushPort)" }

  /// A browser that subscribed with ``Pushing/key``.
  func addBrowser(_ user: String, bell: Bool = false) throws -> NewBrowser {
    api.tell(["public_key": .string(Pushing.key.id)])
    return try simulator.add(
      BrowserOrder(userID: UserID(user), name: user.capitalized, token: "jwt-\(user)", bell: bell))
  }

  func browser(_ id: String) -> VirtualBrowser? {
    simulator.world.read { $0.browsers.browsers[id] }
  }

  /// Sends one Web Push over HTTP/2 and TLS.
  func webPush(
    _ plaintext: Data, to browser: NewBrowser, _ changes: [String: String?] = [:],
    method: String = "POST", body: [UInt8]? = nil
  ) throws -> HTTPClientResponse {
    guard case .string(let endpoint)? = browser.subscription["endpoint"] else {
      throw Pushing.DecodingProblemOfTest()
    }
    let encrypted = try body ?? Pushing.body(plaintext, for: browser.subscription)
    return try HTTPClient(caFile: simulator.authorityFile).send(
      method, endpoint, headers: Pushing.headers(origin: webPushOrigin, changes),
      body: Data(encrypted))
  }
}

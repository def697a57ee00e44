import ActivityContracts
import Cryptography
import Simulator
import TestSupport
import Vocabulary

/// Valid things; a test names only what it is about.
enum Making {
  static let bundle = "de.example.cook"
  static let team = "TEAM123456"
  static let keyID = "KEY1234567"
  static let key = SigningKey.generate()
  static let now = UnixTime(seconds: 1_781_784_000)
  static let alertToken = String(repeating: "a1", count: 32)
  static let startToken = String(repeating: "b2", count: 32)
  static let updateToken = String(repeating: "c3", count: 80)

  static func rules() throws -> APNsRules {
    APNsRules(
      bundleID: bundle,
      providerTokens: try ProviderTokenRules(
        keyID: keyID, teamID: team, publicKey: key.publicKey))
  }

  static func jwt(
    iat: JSONValue = .integer(now.seconds), iss: String = team, kid: String? = keyID,
    key: SigningKey = Making.key
  ) -> String {
    JSONWebToken.signed(claims: ["iss": .string(iss), "iat": iat], with: key, keyID: kid)
  }

  static let goodToken = jwt()

  /// Headers of an update; a change with nil leaves one out.
  static func headers(_ changes: [String: String?] = [:]) -> [APNsRequest.Header] {
    var all: [String: String] = [
      "authorization": "bearer \(goodToken)", "apns-topic": "\(bundle).push-type.liveactivity",
      "apns-push-type": "liveactivity", "apns-priority": "10", "content-type": "application/json",
      "apns-id": "0190f3a2-7b1c-7def-8123-0123456789ab",
    ]
    for (name, value) in changes { all[name] = value }
    return all.sorted { $0.key < $1.key }.map { APNsRequest.Header($0.key, $0.value) }
  }

  static func request(
    _ changes: [String: String?] = [:], method: String = "POST", token: String = updateToken,
    body: JSONValue = update()
  ) -> APNsRequest {
    APNsRequest(
      method: method, path: "/3/device/\(token)", headers: headers(changes),
      body: Array(body.encoded))
  }

  static func state(
    _ rev: Int, _ state: String = "answering", updatedAt: UnixTime = now
  ) -> CookSuggestActivityAttributes.ContentState {
    CookSuggestActivityAttributes.ContentState(
      state: state, statusLabel: "Mara füllt aus", deepLinkStep: "answers", proposalCount: 0,
      partnerPickTitle: nil, partnerReady: false, decidedTitle: nil,
      updatedAt: updatedAt.contractForm, rev: rev, ended: state == "decided" ? true : nil)
  }

  static func attributes(_ session: String = "cs_abc") -> CookSuggestActivityAttributes {
    CookSuggestActivityAttributes(
      sessionId: session, date: "2026-06-18", partnerName: "Mara", partnerTint: "coral",
      partnerEmoji: "🐠")
  }

  static func json(_ value: some Encodable) -> JSONValue {
    do {
      return try JSONValue(parsing: JSON.encoded(value))
    } catch {
      preconditionFailure("\(error)")
    }
  }

  static func update(
    _ event: String = "update", rev: Int = 2, state: String = "answering",
    at moment: UnixTime = now,
    changes: [String: JSONValue?] = [:]
  ) -> JSONValue {
    var aps: [String: JSONValue] = [
      "event": .string(event), "timestamp": .integer(moment.seconds),
      "content-state": json(Making.state(rev, state)),
    ]
    if event != "end" { aps["stale-date"] = .integer(moment.seconds + 600) }
    for (name, value) in changes { aps[name] = value }
    return ["aps": .object(aps)]
  }

  static func start(
    session: String = "cs_abc", rev: Int = 1, at moment: UnixTime = now,
    changes: [String: JSONValue?] = [:]
  ) -> JSONValue {
    var all: [String: JSONValue?] = [
      "attributes-type": "CookSuggestActivityAttributes", "attributes": json(attributes(session)),
      "alert": ["title": "Plan mit Mara das Essen", "body": "Tippe, um mitzuplanen"],
      "input-push-token": 1,
    ]
    all.merge(changes) { $1 }
    return update("start", rev: rev, at: moment, changes: all)
  }

  static let alert: JSONValue = [
    "aps": ["alert": ["title": "Plan mit Mara das Essen", "body": "Tippe, um mitzuplanen"]],
    "link": "/cook-suggest/cs_abc",
  ]

  static func push(
    _ body: JSONValue, to token: String = updateToken, use: TokenUse = .update,
    type: PushType = .liveactivity, expiration: PushExpiration = .appleDecides,
    apnsID: String? = nil, collapseID: String? = nil,
    contentType: String? = "application/json"
  ) -> AcceptedPush {
    AcceptedPush(
      token: token, use: use, type: type, topic: bundle,
      priority: type == .background ? 5 : 10, expiration: expiration, apnsID: apnsID,
      collapseID: collapseID, contentType: contentType,
      payload: APNsRequest(method: "POST", path: "/", headers: [], body: Array(body.encoded))
        .payload)
  }
}

import Activities
import HTTPServing
import Pipeline
import Pushes
import Vocabulary

// Update tokens that come without a context key. An app built with Shiny learns a card's id and
// token, and cannot read which activity it belongs to.
extension API {
  private static let fingerprintMax = 8

  static let bindingRoutes: [Route] = [
    Route(.get, "/api/apns/unbound", scopes: [.user, .service]) { try $0.listUnbound($1) },
    Route(.post, "/api/apns/bind", scopes: [.user, .service]) { try $0.bind($1) },
  ]

  /// Update tokens that no card is known of, each with the cards that it may belong to.
  private func listUnbound(_ call: Call) throws -> Work {
    let isService = call.caller.scopes.contains(.service)
    let user = isService ? call.request.query("user_id").map { UserID($0) } : call.caller.userID
    return { rows in
      let query = TokenQuery(user: user, isPruned: false, isUnbound: true)
      let unbound = try rows.tokenRows(query, after: 0, limit: Self.unboundMax)
      let answers = try unbound.map { _, row in
        UnboundToken(
          row.registration,
          candidates: try Binding.candidates(for: row.registration, at: call.now, in: rows))
      }
      return Answer(.json(200, ["tokens": answers]))
    }
  }

  private static let unboundMax = 1000

  /// Says which card an unbound token belongs to; the builder then brings it up to date.
  private func bind(_ call: Call) throws -> Work {
    let isService = call.caller.scopes.contains(.service)
    var body = try call.body()
    let user =
      isService ? UserID(body.text("user_id", max: Self.userIDMax)) : call.caller.userID
    let context = ContextKey(body.text("context_key", max: OwnContext.charactersMax))
    let activity = body.optionalText("activity_id", max: Self.activityIDMax)
    let fingerprint = body.optionalText("token_fingerprint", max: Self.fingerprintMax)
    if activity == nil, fingerprint == nil {
      body.refuse("activity_id", "is missing, want it or token_fingerprint")
    }
    try body.finish()
    return { rows in
      guard try isOwn(context, user, rows) else {
        throw Problem.invalidField("context_key", "names no activity of \(user)")
      }
      let query = TokenQuery(user: user, isPruned: false, isUnbound: true)
      let meant = try rows.tokenRows(query).map(\.registration).filter { row in
        (activity == nil || row.activityID == activity)
          && (fingerprint == nil || row.token.fingerprint == fingerprint)
      }
      guard var registration = meant.first, meant.count == 1 else {
        throw Problem.notFound(
          meant.isEmpty
            ? "\(user) has no such unbound token."
            : "That names \(meant.count) unbound tokens, want one.")
      }
      registration.contextKey = context
      registration.registeredAt = call.now
      try checkCount(registration, rows)
      try rows.register(registration)
      let event = Event.outboxEntry(
        registered: registration, id: call.newEventID, at: call.now, traceparent: call.traceparent)
      return Answer(.json(200, ["bound": true]), event: event)
    }
  }
}

private struct UnboundToken: Encodable {
  let registration: Registration
  let candidates: [ContextKey]

  init(_ registration: Registration, candidates: [ContextKey]) {
    self.registration = registration
    self.candidates = candidates
  }

  enum CodingKeys: String, CodingKey {
    case userID = "user_id"
    case fingerprint = "token_fingerprint"
    case deviceID = "device_id"
    case activityID = "activity_id"
    case attributesType = "attributes_type"
    case registeredAt = "registered_at"
    case candidates
  }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(registration.userID, forKey: .userID)
    try members.encode(registration.token.fingerprint, forKey: .fingerprint)
    try members.encode(registration.deviceID, forKey: .deviceID)
    try members.encode(registration.activityID, forKey: .activityID)
    try members.encode(registration.attributesType, forKey: .attributesType)
    try members.encode(registration.registeredAt, forKey: .registeredAt)
    try members.encode(candidates, forKey: .candidates)
  }
}

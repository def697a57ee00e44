import ActivityContracts
import Foundation
import HTTPServing
import Pipeline
import Pushes
import Sessions
import Vocabulary

extension API {
  private static let path = "/api/apns/register"
  /// How many tokens of one kind one user may have, and how many one activity: what one event can
  /// cause stays bounded.
  private static let tokensMax = 100
  static let activityIDMax = 128
  private static let attributesTypeMax = 128
  private static let deviceIDMax = 128

  static let registrationRoutes: [Route] = [
    Route(.post, path) { try $0.register($1) },
    Route(.delete, path) { try $0.unregister($1) },
  ]

  private func register(_ call: Call) throws -> Work {
    var body = try call.body()
    let token = body.token()
    // An app that says it in Shiny's words cannot know the context key of a card.
    var isShiny = false
    let kind = body.word("kind", among: TokenKind.names, standIn: TokenKind.alert) { name in
      isShiny = name == "LiveActivityUpdate"
      return TokenKind(name: name)
    }
    var registration = Registration(
      userID: call.caller.userID, token: token ?? .standIn, kind: kind, registeredAt: call.now)
    registration.contextKey = body.optionalText("context_key", max: OwnContext.charactersMax).map(
      ContextKey.init)
    registration.activityID = body.optionalText("activity_id", max: Self.activityIDMax)
    registration.attributesType = body.optionalText("attributes_type", max: Self.attributesTypeMax)
    registration.environment =
      body.optionalWord(
        "environment", among: PushEnvironment.allCases.map(\.rawValue),
        PushEnvironment.init(rawValue:)) ?? .production
    registration.bundleID = body.bundleID()
    registration.deviceID = body.optionalText("device_id", max: Self.deviceIDMax)
    registration.frequentPushesEnabled = body.optionalFlag("frequent_pushes_enabled")
    let context = body.checkContext(of: registration, mayLackIt: isShiny)
    try body.finish()
    return { rows in try store(registration, context, rows, call) }
  }

  private func store(
    _ registration: Registration, _ context: OwnContext?, _ rows: any StoreTransaction,
    _ call: Call
  ) throws -> Answer {
    if context != nil, let key = registration.contextKey,
      try !isOwn(key, registration.userID, rows)
    {
      throw Problem.invalidField("context_key", BodyReader.foreignContext)
    }
    try checkIsNoChannel(registration.token, rows)
    let registration = try Binding.bound(registration, in: rows)
    try checkCount(registration, rows)
    try rows.register(registration)
    // An alert token has nothing waiting for it; the others may have missed a state or a start.
    let event =
      registration.kind == .alert
      ? nil
      : Event.outboxEntry(
        registered: registration, id: call.newEventID, at: call.now, traceparent: call.traceparent)
    var answer: [String: JSONValue] = ["registered": true]
    if try isSuspect(registration, rows, call.now) { answer["wants_new_token"] = true }
    return Answer(.json(200, JSONValue.object(answer)), event: event)
  }

  /// A channel is kept among tokens, by the digits of an id that every phone of its cards was told.
  /// Whoever registered those would take it from all the others.
  private func checkIsNoChannel(_ token: PushToken, _ rows: any StoreTransaction) throws {
    let registered = try rows.registrations(of: [token])[token] ?? []
    guard
      registered.compactMap(\.contextKey).allSatisfy({
        ActivityState.activityKey(ofChannel: $0) == nil
      })
    else {
      throw Problem.invalidField("token", "is none that iOS gives to an app")
    }
  }

  /// APNs takes its starts, and nothing is heard of their cards: the app should ask iOS for another
  /// push-to-start token. Only a hint; starts are sent to it all the same.
  private func isSuspect(
    _ registration: Registration, _ rows: any StoreTransaction, _ now: UnixTime
  ) throws -> Bool {
    guard registration.kind == .pushToStart else { return false }
    return try rows.unheardStart(
      of: registration.token, acceptedBy: now - Start.heardOfWithin) != nil
  }

  /// Refuses a token for which there is no room among those of its kind, or of its card.
  ///
  /// - Throws: ``Problem``, ``StoreError``.
  func checkCount(_ registration: Registration, _ rows: any StoreTransaction) throws {
    let present: [Registration]
    if registration.kind == .update {
      present = try updateTokens(beside: registration, rows)
    } else {
      present =
        try rows.tokens(of: [registration.userID], kind: registration.kind)[registration.userID]
        ?? []
    }
    guard present.count < Self.tokensMax || present.contains(where: registration.takesPlace) else {
      throw Problem(
        status: 429, name: "too-many-tokens", title: "Too many tokens",
        detail: "You have \(present.count) tokens of kind \(registration.kind.rawValue), at most"
          + " \(Self.tokensMax) are allowed; unregister one.")
    }
  }

  /// Of the same card; of one that is not known, all that are unbound.
  private func updateTokens(beside registration: Registration, _ rows: any StoreTransaction) throws
    -> [Registration]
  {
    if let context = registration.contextKey {
      return try rows.updateTokens(of: [context])[context] ?? []
    }
    let query = TokenQuery(user: registration.userID, isPruned: false, isUnbound: true)
    return try rows.tokenRows(query, after: 0, limit: Self.tokensMax).map(\.row.registration)
  }

  private func unregister(_ call: Call) throws -> Work {
    var body = try call.body()
    let token = body.token()
    let kind = body.optionalWord("kind", among: TokenKind.names, TokenKind.init(name:))
    let attributesType = body.optionalText("attributes_type", max: Self.attributesTypeMax)
    try body.finish()
    return { rows in
      let count = try rows.unregister(
        token ?? .standIn, of: call.caller.userID, kind: kind, attributesType: attributesType)
      return Answer(.json(200, ["unregistered": count]))
    }
  }
}

extension BodyReader {
  /// Says the same of a session that is not there and of somebody else's.
  fileprivate static let foreignContext =
    "names no activity of yours, want cooksuggest:{session}:{your user id} of a session you take"
    + " part in, or activity:{activity_key}:{your user id}"

  /// Nil after a problem. A token is never quoted: whoever holds it can name that device.
  fileprivate mutating func token() -> PushToken? {
    let text = text("token", max: PushToken.digitsMax)
    guard !text.isEmpty else { return nil }
    do {
      return try PushToken(hex: text)
    } catch {
      refuse("token", "\(error)")
      return nil
    }
  }

  /// A topic that is made of a wrong one is refused by APNs for all who share it.
  fileprivate mutating func bundleID() -> String? {
    guard let text = optionalText("bundle_id", max: BundleID.charactersMax) else { return nil }
    do {
      return try BundleID(text).text
    } catch {
      refuse("bundle_id", "is \"\(text)\", \(error)")
      return nil
    }
  }

  /// Only an update token belongs to one activity, and only to one of the caller's.
  fileprivate mutating func checkContext(of registration: Registration, mayLackIt: Bool)
    -> OwnContext?
  {
    guard registration.kind == .update else {
      if registration.contextKey != nil {
        refuse("context_key", "is given, want it only with kind la-update")
      }
      return nil
    }
    guard let key = registration.contextKey else {
      let type = registration.attributesType ?? CookSuggestActivityAttributes.activityType
      if type == CookSuggestActivityAttributes.activityType, !mayLackIt {
        refuse(
          "context_key", "is missing, want cooksuggest:{session}:{user} with kind la-update")
      }
      return nil
    }
    let context = OwnContext(key, of: registration.userID)
    if context == nil { refuse("context_key", Self.foreignContext) }
    return context
  }
}

extension TokenKind {
  fileprivate static let names = allCases.map(\.rawValue)
}

extension PushToken {
  /// Never stored: a reader that noted a problem with the token refuses the whole body.
  fileprivate static let standIn: PushToken = {
    do {
      return try PushToken(hex: "00")
    } catch {
      preconditionFailure("two digits are a token: \(error)")
    }
  }()
}

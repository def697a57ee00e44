import Pipeline
import Pushes
import Vocabulary

// The token registry of the in-memory store, by the rules of ``Registration``: the contract suite
// holds the stores' SQL against them.

extension InMemoryTransaction {
  func register(_ registration: Registration) throws {
    try change { tables in
      var arriving = registration
      tables.tokens.removeAll {
        $0.registration.token == arriving.token && $0.registration.userID != arriving.userID
      }
      for old in tables.tokens.map(\.registration) where registration.replaces(old) {
        arriving.contextKey = arriving.contextKey ?? old.contextKey
        arriving.activityID = arriving.activityID ?? old.activityID
      }
      tables.tokens.removeAll { registration.replaces($0.registration) }
      let place = tables.tokens.firstIndex { $0.registration.isSameRow(as: arriving) }
      if let place {
        tables.tokens[place].refresh(with: arriving)
      } else {
        tables.tokens.append(.init(registration: arriving))
      }
    }
  }

  func unregister(_ token: PushToken, of user: UserID, kind: TokenKind?, attributesType: String?)
    throws -> Int
  {
    try change { tables in
      let before = tables.tokens.count
      tables.tokens.removeAll { row in
        row.registration.token == token && row.registration.userID == user
          && (kind == nil || row.registration.kind == kind)
          && (attributesType == nil || row.registration.attributesType == attributesType)
      }
      return before - tables.tokens.count
    }
  }

  func updateTokens(of contexts: [ContextKey]) throws -> [ContextKey: [Registration]] {
    let wanted = Set(contexts)
    return Dictionary(
      grouping: try unpruned { row in
        row.kind == .update && row.contextKey.map(wanted.contains) ?? false
      }, by: { $0.contextKey ?? ContextKey("") })
  }

  func tokens(of users: [UserID], kind: TokenKind) throws -> [UserID: [Registration]] {
    let wanted = Set(users)
    return Dictionary(
      grouping: try unpruned { $0.kind == kind && wanted.contains($0.userID) }, by: \.userID)
  }

  func registrations(of tokens: [PushToken]) throws -> [PushToken: [Registration]] {
    let wanted = Set(tokens)
    return Dictionary(grouping: try unpruned { wanted.contains($0.token) }, by: \.token)
  }

  private func unpruned(_ isWanted: (Registration) -> Bool) throws -> [Registration] {
    try rows().tokens.filter { $0.pruned == nil }.map(\.registration).filter(isWanted).sorted {
      ($0.registeredAt, $0.token.hex, $0.kind.rawValue, $0.attributesType ?? "")
        < ($1.registeredAt, $1.token.hex, $1.kind.rawValue, $1.attributesType ?? "")
    }
  }

  func markProven(_ token: PushToken, at moment: UnixTime) throws {
    _ = try changeRows(of: token, where: { $0.registration.provenAt == nil }) {
      $0.registration.provenAt = moment
    }
  }

  func prune(_ token: PushToken, because reason: String, unlessRegisteredAfter moment: UnixTime)
    throws -> Int
  {
    try changeRows(
      of: token, where: { $0.pruned == nil && $0.registration.registeredAt <= moment }
    ) {
      $0.pruned = (moment, reason)
    }
  }

  func restore(_ tokens: [PushToken], prunedBecause reason: String) throws -> Int {
    try tokens.reduce(0) { count, token in
      try count + changeRows(of: token, where: { $0.pruned?.reason == reason }) { $0.pruned = nil }
    }
  }

  func moveToken(_ token: PushToken, to environment: PushEnvironment) throws {
    _ = try changeRows(of: token, where: { $0.registration.environment != environment }) {
      $0.registration.environment = environment
      $0.registration.provenAt = nil
    }
  }

  func removeRegistrations(prunedBefore moment: UnixTime, limit: Int) throws -> Int {
    try change { tables in
      let old = tables.tokens.compactMap(\.pruned?.at).filter { $0 < moment }.sorted()
      guard let last = old.prefix(limit).last else { return 0 }
      var left = min(limit, old.count)
      tables.tokens.removeAll { row in
        guard let pruned = row.pruned, pruned.at <= last, left > 0 else { return false }
        left -= 1
        return true
      }
      return min(limit, old.count)
    }
  }

  func contextKey(ofActivity activityID: String, of user: UserID) throws -> ContextKey? {
    try rows().tokens.map(\.registration)
      .filter { $0.userID == user && $0.activityID == activityID && $0.contextKey != nil }
      .min { ($1.registeredAt, $0.token.hex) < ($0.registeredAt, $1.token.hex) }?.contextKey
  }

  func standings(of pushes: [(token: PushToken, context: ContextKey?)]) throws -> [PushStanding] {
    let registrations = try registrations(of: pushes.map(\.token))
    let states = try activityStates(pushes.compactMap(\.context))
    return try pushes.map { token, context in
      let found = try rows().tokens.filter { $0.registration.token == token }
      guard !found.isEmpty else { return PushStanding() }
      return PushStanding(
        registrations: registrations[token] ?? [],
        deliveredRev: found.compactMap(\.deliveredRev).max(),
        newestRev: context.flatMap { states[$0]?.rev })
    }
  }

  func raiseDeliveredRevs(_ accepted: [AcceptedRev]) throws -> [Int?] {
    try accepted.map { accepted in
      let known = try rows().tokens.filter { $0.registration.token == accepted.token }
        .compactMap(\.deliveredRev).max()
      if let known, known >= accepted.rev { return known }
      let count = try changeRows(of: accepted.token, where: { _ in true }) {
        $0.deliveredRev = accepted.rev
      }
      return count > 0 ? accepted.rev : nil
    }
  }

  func forgetDeliveredRev(of token: PushToken) throws {
    _ = try changeRows(of: token, where: { $0.deliveredRev != nil }) { $0.deliveredRev = nil }
  }

  /// - Returns: how many rows changed.
  private func changeRows(
    of token: PushToken, where isMeant: (InMemoryTables.Token) -> Bool,
    _ body: (inout InMemoryTables.Token) -> Void
  ) throws -> Int {
    try change { tables in
      var count = 0
      for place in tables.tokens.indices
      where tables.tokens[place].registration.token == token && isMeant(tables.tokens[place]) {
        body(&tables.tokens[place])
        count += 1
      }
      return count
    }
  }
}

extension InMemoryTables.Token {
  fileprivate mutating func refresh(with new: Registration) {
    let old = registration
    registration.contextKey = new.contextKey ?? old.contextKey
    registration.activityID = new.activityID ?? old.activityID
    registration.environment = new.environment
    registration.bundleID = new.bundleID ?? old.bundleID
    registration.deviceID = new.deviceID ?? old.deviceID
    registration.frequentPushesEnabled = new.frequentPushesEnabled ?? old.frequentPushesEnabled
    registration.registeredAt = max(new.registeredAt, old.registeredAt)
    registration.provenAt =
      new.environment == old.environment ? old.provenAt ?? new.provenAt : new.provenAt
    if registration.contextKey != old.contextKey { deliveredRev = nil }
    pruned = nil
  }
}

extension StoreTransaction {
  /// The newest rev that APNs accepted for this token; nil when none.
  package func deliveredRev(to token: PushToken) throws -> Int? {
    try standings(of: [(token, nil)]).first?.deliveredRev
  }

  package func raiseDeliveredRev(to rev: Int, token: PushToken) throws -> Int? {
    try raiseDeliveredRevs([AcceptedRev(token: token, rev: rev)])[0]
  }
}

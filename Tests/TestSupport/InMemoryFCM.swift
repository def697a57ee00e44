import Pipeline
import Pushes
import Vocabulary

// MARK: Android phones

extension InMemoryTransaction {
  func register(_ registration: FCMRegistration) throws {
    try change { tables in
      if let device = registration.deviceID {
        tables.fcmTokens = tables.fcmTokens.filter { token, phone in
          token == registration.token || phone.row.userID != registration.userID
            || phone.row.deviceID != device || phone.row.packageName != registration.packageName
        }
      }
      tables.fcmTokens[registration.token] = .init(row: registration)
    }
  }

  func unregister(_ token: FCMToken, of user: UserID) throws -> Int {
    try change { tables in
      guard tables.fcmTokens[token]?.row.userID == user else { return 0 }
      tables.fcmTokens[token] = nil
      return 1
    }
  }

  func fcmRegistrations(of users: [UserID]) throws -> [UserID: [FCMRegistration]] {
    let wanted = Set(users)
    let phones = try rows().fcmTokens.values.filter { $0.pruned == nil }.map(\.row)
      .filter { wanted.contains($0.userID) }
      .sorted { ($0.registeredAt, $0.token.text) < ($1.registeredAt, $1.token.text) }
    return Dictionary(grouping: phones, by: \.userID)
  }

  func fcmRegistrations(_ tokens: [FCMToken]) throws -> [FCMToken: FCMRegistration] {
    let wanted = Set(tokens)
    return try rows().fcmTokens.filter { wanted.contains($0.key) && $0.value.pruned == nil }
      .mapValues(\.row)
  }

  func prune(
    _ token: FCMToken, because reason: String, unlessRegisteredAfter moment: UnixTime,
    at now: UnixTime
  ) throws -> Bool {
    try change { tables in
      guard let phone = tables.fcmTokens[token], phone.pruned == nil,
        phone.row.registeredAt <= moment
      else { return false }
      tables.fcmTokens[token]?.pruned = (now, reason)
      return true
    }
  }

  func restore(_ tokens: [FCMToken], prunedBecause reason: String) throws -> Int {
    try change { tables in
      let found = tokens.filter { tables.fcmTokens[$0]?.pruned?.reason == reason }
      for token in found { tables.fcmTokens[token]?.pruned = nil }
      return found.count
    }
  }

  func fcmRows(_ query: FCMQuery, after place: Int64, limit: Int) throws
    -> [(place: Int64, row: FCMRow)]
  {
    let all = try rows().fcmTokens.values.sorted { $0.row.token.text < $1.row.token.text }
    let found = all.enumerated().filter { index, phone in
      Int64(index) >= place
        && (query.user.map { $0 == phone.row.userID } ?? true)
        && (query.isPruned.map { $0 == (phone.pruned != nil) } ?? true)
        && (query.prunedBecause.map { $0 == phone.pruned?.reason } ?? true)
        && (query.prunedSince.map { since in phone.pruned.map { $0.at >= since } ?? false } ?? true)
    }
    return found.prefix(limit).map { index, phone in
      (
        Int64(index + 1),
        FCMRow(
          registration: phone.row, prunedAt: phone.pruned?.at, prunedBecause: phone.pruned?.reason)
      )
    }
  }

  func pruneFCM(
    registeredBefore moment: UnixTime, because reason: String, at now: UnixTime, limit: Int
  ) throws -> Int {
    try change { tables in
      let old = tables.fcmTokens.values
        .filter { $0.pruned == nil && $0.row.registeredAt < moment }
        .sorted { $0.row.registeredAt < $1.row.registeredAt }.prefix(limit)
      for phone in old { tables.fcmTokens[phone.row.token]?.pruned = (now, reason) }
      return old.count
    }
  }

  func deliveredRev(of context: ContextKey, to token: FCMToken) throws -> Int? {
    try rows().fcmDelivered[.init(context: context, token: token)]?.rev
  }

  func raiseDeliveredRev(of context: ContextKey, to token: FCMToken, rev: Int, at moment: UnixTime)
    throws -> Int
  {
    try change { tables in
      let place = InMemoryTables.FCMDelivery(context: context, token: token)
      let newest = max(rev, tables.fcmDelivered[place]?.rev ?? rev)
      tables.fcmDelivered[place] = (newest, moment)
      return newest
    }
  }

  func forgetDeliveredRev(of context: ContextKey, to token: FCMToken) throws {
    try change { $0.fcmDelivered[.init(context: context, token: token)] = nil }
  }

  func removeFCM(prunedBefore pruned: UnixTime, deliveredBefore delivered: UnixTime, limit: Int)
    throws -> Int
  {
    try change { tables in
      let tokens = tables.fcmTokens.filter { ($0.value.pruned?.at ?? pruned) < pruned }
        .sorted { ($0.value.pruned?.at ?? pruned) < ($1.value.pruned?.at ?? pruned) }.prefix(limit)
      let deliveries = tables.fcmDelivered.filter { $0.value.at < delivered }
        .sorted { $0.value.at < $1.value.at }.prefix(limit)
      for (token, _) in tokens { tables.fcmTokens[token] = nil }
      for (place, _) in deliveries { tables.fcmDelivered[place] = nil }
      return tokens.count + deliveries.count
    }
  }
}

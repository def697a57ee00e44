import Pipeline
import Pushes
import Vocabulary

// What the in-memory store keeps besides sessions and tokens.

// MARK: Activities and starts

extension InMemoryTransaction {
  func activityStates(_ contexts: [ContextKey]) throws -> [ContextKey: ActivityState] {
    let wanted = Set(contexts)
    return try rows().activityState.filter { wanted.contains($0.key) }
  }

  func liveActivityStates(of user: UserID) throws -> [ActivityState] {
    try rows().activityState.values.filter { $0.userID == user && $0.event == .update }
      .sorted { ($0.causedAt, $0.contextKey) < ($1.causedAt, $1.contextKey) }
  }

  func save(_ states: [ActivityState]) throws {
    try change { tables in
      for state in states { tables.activityState[state.contextKey] = state }
    }
  }

  func save(_ report: PhoneReport) throws {
    try change { tables in
      tables.keep(report)
      let known = tables.activityReports[report.contextKey]?.state
      guard known != .dismissed, known != .ended || report.state != .gone else { return }
      tables.activityReports[report.contextKey] = report
    }
  }

  func dismissed(among contexts: [ContextKey]) throws -> Set<ContextKey> {
    let reports = try rows().activityReports
    return Set(contexts.filter { reports[$0]?.state == .dismissed })
  }

  func starts(of sessions: [SessionID]) throws -> [Start] {
    let all = try rows().starts
    var seen: Set<SessionID> = []
    return sessions.filter { seen.insert($0).inserted }.flatMap { session in
      all.filter { $0.sessionID == session }
        .sorted { ($0.firstAskedAt, $0.token.hex) < ($1.firstAskedAt, $1.token.hex) }
    }
  }

  func save(_ start: Start) throws {
    try change { tables in
      let isThere = tables.starts.contains {
        $0.sessionID == start.sessionID && $0.token == start.token
      }
      if !isThere { tables.starts.append(start) }
    }
  }

  func start(of session: SessionID, token: PushToken) throws -> Start? {
    try rows().starts.first { $0.sessionID == session && $0.token == token }
  }

  func claimStart(of session: SessionID, token: PushToken, until: UnixTime?) throws {
    try changeStart(of: session, token: token) {
      $0.claimedUntil = until
      if until != nil { $0.cardsMax += 1 }
    }
  }

  func uncountCard(of session: SessionID, token: PushToken) throws {
    try changeStart(of: session, token: token) { $0.cardsMax = max(0, $0.cardsMax - 1) }
  }

  func acceptStart(of session: SessionID, token: PushToken, at moment: UnixTime) throws {
    try changeStart(of: session, token: token) { $0.acceptedAt = $0.acceptedAt ?? moment }
  }

  private func changeStart(
    of session: SessionID, token: PushToken, _ body: (inout Start) -> Void
  ) throws {
    try change { tables in
      let place = tables.starts.firstIndex { $0.sessionID == session && $0.token == token }
      if let place { body(&tables.starts[place]) }
    }
  }
}

// MARK: Deliveries

extension InMemoryTransaction {
  func save(_ records: [DeliveryRecord]) throws { try change { $0.deliveries += records } }

  func deliveries(of session: SessionID) throws -> [DeliveryRecord] {
    // The sort is stable: records of one moment stay in the order they were saved in.
    try rows().deliveries.filter { $0.sessionID == session }
      .sorted { $0.settledAt < $1.settledAt }
  }

  func acceptedJobs(among ids: [String]) throws -> Set<String> {
    let wanted = Set(ids)
    return Set(
      try rows().deliveries
        .filter { [200, 201, 202].contains($0.status) && wanted.contains($0.jobID) }
        .filter { !["start", "update", "end"].contains($0.event) }.map(\.jobID))
  }

  func unansweredJobs(among ids: [String]) throws -> Set<String> {
    let wanted = Set(ids)
    return Set(
      try rows().deliveries
        .filter { $0.status == nil && $0.wasSent && wanted.contains($0.jobID) }.map(\.jobID))
  }

  func removeDeliveries(settledBefore moment: UnixTime, limit: Int) throws -> Int {
    try change { tables in
      let old = tables.deliveries.indices
        .filter { tables.deliveries[$0].settledAt < moment }
        .sorted { tables.deliveries[$0].settledAt < tables.deliveries[$1].settledAt }
        .prefix(limit)
      for place in old.sorted(by: >) { tables.deliveries.remove(at: place) }
      return old.count
    }
  }
}

// MARK: Notifications and stored answers

extension InMemoryTables {
  /// - Returns: false when the user already has one with this dedupe key.
  fileprivate mutating func insert(_ notification: Notification) throws -> Bool {
    let own = notifications.filter { $0.userID == notification.userID }
    guard !own.contains(where: { $0.dedupeKey == notification.dedupeKey }) else { return false }
    guard !own.contains(where: { $0.id == notification.id }) else {
      throw StoreError("the user already has a notification \(notification.id)")
    }
    notifications.append(notification)
    return true
  }
}

extension InMemoryTransaction {
  func insert(_ notification: Notification) throws -> Bool {
    try change { try $0.insert(notification) }
  }

  func notifications(
    of user: UserID, before cursor: (createdAt: UnixTime, id: String)?, updatedSince: UnixTime?,
    limit: Int
  ) throws -> [Notification] {
    let own = try rows().notifications.filter { notification in
      notification.userID == user
        && cursor.map { (notification.createdAt, notification.id) < $0 } ?? true
        && updatedSince.map { notification.updatedAt >= $0 } ?? true
    }
    return Array(
      own.sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }.prefix(limit))
  }

  func notification(_ id: String, of user: UserID) throws -> Notification? {
    try rows().notifications.first { $0.id == id && $0.userID == user }
  }

  func save(_ notification: Notification) throws {
    guard try self.notification(notification.id, of: notification.userID) != nil else {
      try change { tables in
        guard try tables.insert(notification) else {
          throw StoreError("the user already has a notification with this dedupe key")
        }
      }
      return
    }
    try change { tables in
      let place = tables.notifications.firstIndex {
        $0.id == notification.id && $0.userID == notification.userID
      }
      guard let place else { return }
      tables.notifications[place].resolvedReason = notification.resolvedReason
      tables.notifications[place].updatedAt = notification.updatedAt
      tables.notifications[place].seenAt = notification.seenAt
      tables.notifications[place].readAt = notification.readAt
    }
  }

  func resolve(dedupeKey: String, because reason: String, at moment: UnixTime) throws
    -> [Notification]
  {
    try change { tables in
      let places = tables.notifications.indices.filter {
        tables.notifications[$0].dedupeKey == dedupeKey
          && tables.notifications[$0].resolvedReason == nil
      }
      for place in places {
        tables.notifications[place].resolvedReason = reason
        tables.notifications[place].updatedAt = moment
      }
      return places.map { tables.notifications[$0] }.sorted { $0.userID < $1.userID }
    }
  }

  func resolvedKeys(among dedupeKeys: [String]) throws -> Set<String> {
    let all = try rows().notifications
    return Set(
      dedupeKeys.filter { key in
        let meant = all.filter { $0.dedupeKey == key }
        return !meant.isEmpty && meant.allSatisfy { $0.resolvedReason != nil }
      })
  }

  func answer(forKey key: String, of user: UserID, route: String) throws -> StoredAnswer? {
    try rows().idempotencyKeys[.init(user: user, route: route, key: key)]
  }

  func save(_ answer: StoredAnswer, forKey key: String, of user: UserID, route: String) throws {
    try change { $0.idempotencyKeys[.init(user: user, route: route, key: key)] = answer }
  }

  func removeAnswers(storedBefore moment: UnixTime, limit: Int) throws {
    try change { tables in
      let old = tables.idempotencyKeys.filter { $0.value.storedAt < moment }
        .sorted { $0.value.storedAt < $1.value.storedAt }.prefix(limit)
      for (key, _) in old { tables.idempotencyKeys[key] = nil }
    }
  }
}

// MARK: Outbox

extension InMemoryTransaction {
  func append(_ event: OutboxEvent) throws {
    try change { tables in
      tables.lastSequence += 1
      let stored = OutboxEvent(
        sequence: tables.lastSequence, message: event.message, routingKey: event.routingKey,
        storedAt: event.storedAt, orderKey: event.orderKey)
      tables.outbox.append(.init(event: stored))
    }
  }

  func hasFreeEvents(now: UnixTime) throws -> Bool {
    try !rows().freeEvents(atMost: 1, now: now).isEmpty
  }

  func leaseEvents(atMost count: Int, now: UnixTime, until: UnixTime) throws -> [OutboxEvent] {
    try change { tables in
      let taken = tables.freeEvents(atMost: count, now: now)
      for place in taken { tables.outbox[place].leasedUntil = until }
      return taken.map { tables.outbox[$0].event }
    }
  }

  func removeEvents(_ sequences: [Int64]) throws {
    let gone = Set(sequences)
    try change { $0.outbox.removeAll { gone.contains($0.event.sequence) } }
  }

  func releaseEvents(_ sequences: [Int64]) throws {
    let free = Set(sequences)
    try change { tables in
      for place in tables.outbox.indices where free.contains(tables.outbox[place].event.sequence) {
        tables.outbox[place].leasedUntil = nil
      }
    }
  }

  func postponeEvents(_ sequences: [Int64], until: UnixTime, parking: Bool) throws {
    let postponed = Set(sequences)
    try change { tables in
      for place in tables.outbox.indices {
        let event = tables.outbox[place].event
        guard postponed.contains(event.sequence) else { continue }
        tables.outbox[place].leasedUntil = until
        tables.outbox[place].isParked = parking || tables.outbox[place].isParked
        tables.outbox[place].event = OutboxEvent(
          sequence: event.sequence, message: event.message, routingKey: event.routingKey,
          storedAt: event.storedAt, orderKey: event.orderKey, tries: event.tries + 1)
      }
    }
  }

  func outboxDepth() throws -> (events: Int, oldest: UnixTime?) {
    let outbox = try rows().outbox
    return (outbox.count, outbox.first { !$0.isParked }?.event.storedAt)
  }

  func parkedEvents() throws -> Int { try rows().outbox.count(where: \.isParked) }
}

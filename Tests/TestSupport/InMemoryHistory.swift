import Pipeline
import Pushes
import Vocabulary

// What the in-memory store keeps for `lockstep explain`.

extension InMemoryTables {
  /// Adds to the history, which holds the newest of each activity.
  mutating func keep(_ report: PhoneReport) {
    phoneReports.append(report)
    let own = phoneReports.indices.filter { phoneReports[$0].contextKey == report.contextKey }
    for place in own.dropLast(PhoneReport.keptMax).reversed() { phoneReports.remove(at: place) }
  }
}

extension InMemoryTransaction {
  func save(_ mutation: MutationRecord) throws {
    try change { tables in
      let isThere = tables.mutations.contains {
        $0.sessionID == mutation.sessionID && $0.rev == mutation.rev
      }
      if !isThere { tables.mutations.append(mutation) }
    }
  }

  func mutations(of session: SessionID) throws -> [MutationRecord] {
    try rows().mutations.filter { $0.sessionID == session }.sorted { $0.rev < $1.rev }
  }

  func save(_ builds: [BuildRecord]) throws { try change { $0.builds += builds } }

  func builds(of session: SessionID) throws -> [BuildRecord] {
    try rows().builds.filter { $0.sessionID == session }.sorted { $0.builtAt < $1.builtAt }
  }

  func reports(of contexts: [ContextKey]) throws -> [PhoneReport] {
    let kept = try rows().phoneReports
    return Set(contexts).sorted().flatMap { context in kept.filter { $0.contextKey == context } }
      .sorted { $0.reportedAt < $1.reportedAt }
  }

  func unpublished(among events: [EventID]) throws -> Set<EventID> {
    let waiting = Set(try rows().outbox.map { EventID($0.event.message.id) })
    return waiting.intersection(events)
  }

  func removeHistory(before moment: UnixTime, limit: Int) throws -> Int {
    try change { tables in
      removeOldest(of: &tables.mutations, \.acceptedAt, before: moment, limit: limit)
        + removeOldest(of: &tables.builds, \.builtAt, before: moment, limit: limit)
        + removeOldest(of: &tables.phoneReports, \.reportedAt, before: moment, limit: limit)
    }
  }

  // MARK: Tokens

  func tokenRows(_ query: TokenQuery, after place: Int64, limit: Int) throws
    -> [(place: Int64, row: TokenRow)]
  {
    let found = try rows().tokens.enumerated().filter { index, token in
      Int64(index) >= place && query.means(token)
    }
    return found.prefix(limit).map { index, token in
      (
        Int64(index + 1),
        TokenRow(
          registration: token.registration, deliveredRev: token.deliveredRev,
          prunedAt: token.pruned?.at, prunedBecause: token.pruned?.reason)
      )
    }
  }
}

private func removeOldest<Record>(
  of records: inout [Record], _ moment: (Record) -> UnixTime, before border: UnixTime, limit: Int
) -> Int {
  let old = records.indices.filter { moment(records[$0]) < border }
    .sorted { moment(records[$0]) < moment(records[$1]) }.prefix(limit)
  for place in old.sorted(by: >) { records.remove(at: place) }
  return old.count
}

extension TokenQuery {
  fileprivate func means(_ token: InMemoryTables.Token) -> Bool {
    (user == nil || token.registration.userID == user)
      && (kind == nil || token.registration.kind == kind)
      && (isPruned == nil || (token.pruned != nil) == isPruned)
      && (isUnbound == nil
        || isUnbound
          == (token.registration.kind == .update && token.registration.contextKey == nil))
      && (prunedBecause == nil || token.pruned?.reason == prunedBecause)
      && (prunedSince.map { since in token.pruned.map { $0.at >= since } ?? false } ?? true)
  }
}

import Pipeline
import Pushes
import Vocabulary

// What the age of tokens and the silence of phones tell, once more in Swift.

extension InMemoryTransaction {
  func prune(
    _ kind: TokenKind, registeredBefore moment: UnixTime, because reason: String, at now: UnixTime,
    limit: Int
  ) throws -> Int {
    try change { tables in
      let old = tables.tokens.indices.filter { place in
        let row = tables.tokens[place]
        return row.pruned == nil && row.registration.kind == kind
          && row.registration.registeredAt < moment
      }.sorted {
        tables.tokens[$0].registration.registeredAt < tables.tokens[$1].registration.registeredAt
      }.prefix(limit)
      for place in old { tables.tokens[place].pruned = (now, reason) }
      return old.count
    }
  }

  func unheardStart(of token: PushToken, acceptedBy moment: UnixTime) throws -> Start? {
    let tables = try rows()
    let accepted = tables.starts.filter { $0.token == token && $0.acceptedAt != nil }
    guard let newest = accepted.max(by: { $0.acceptedAt ?? moment < $1.acceptedAt ?? moment }),
      let acceptedAt = newest.acceptedAt, acceptedAt <= moment
    else { return nil }
    let isHeard =
      tables.tokens.contains { $0.registration.contextKey == newest.contextKey }
      || tables.activityReports[newest.contextKey] != nil
    return isHeard ? nil : newest
  }
}

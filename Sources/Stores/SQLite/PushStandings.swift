import Pipeline
import Pushes
import Vocabulary

/// What is asked and noted of every push. Beside the record, the whole of what a push costs in the
/// store.
extension SQLiteTransaction {
  func standings(of pushes: [(token: PushToken, context: ContextKey?)]) throws -> [PushStanding] {
    var standings = Array(repeating: PushStanding(), count: pushes.count)
    var last: Int?
    func read(_ row: inout Row, at place: Int) throws {
      try standings[place].read(&row, of: pushes[place].token, isFirst: place != last)
      last = place
    }
    let inEights = pushes.count / 8 * 8
    if inEights > 0 {
      let eight = try connection.prepared(StandingSQL.eightStandings)
      for first in stride(from: 0, to: inEights, by: 8) {
        try eight.each { parameters in
          for push in pushes[first..<first + 8] { parameters.append(push.token, push.context) }
        } read: { row in
          let place = try first + row.next()
          try read(&row, at: place)
        }
      }
    }
    if inEights < pushes.count {
      let one = try connection.prepared(StandingSQL.standing)
      for place in inEights..<pushes.count {
        let push = pushes[place]
        try one.each(push.token, push.context) { try read(&$0, at: place) }
      }
    }
    for place in standings.indices where standings[place].registrations.count > 1 {
      standings[place].registrations = standings[place].registrations.inOrder
    }
    return standings
  }

  /// In its place a row costs half of what searching for it costs. When the token got another row
  /// meanwhile, only the one in place is raised: the newest is the greatest of them all the same.
  func raiseDeliveredRevs(_ accepted: [AcceptedRev]) throws -> [Int?] {
    let inPlace = try connection.prepared(StandingSQL.raiseInPlace)
    return try accepted.map { accepted in
      if let place = accepted.place,
        try inPlace.run(place, accepted.token, accepted.rev) > 0
      {
        return accepted.rev
      }
      if try connection.count(StandingSQL.raiseDeliveredRev, accepted.token, accepted.rev) > 0 {
        return accepted.rev
      }
      return try connection.first(StandingSQL.deliveredRev, accepted.token) {
        try $0.next() as Int?
      } ?? nil
    }
  }
}

extension PushStanding {
  /// Takes in one row of the token.
  fileprivate mutating func read(_ row: inout Row, of token: PushToken, isFirst: Bool) throws {
    let found: Int64 = try row.next()
    place = isFirst ? found : nil
    try take(&row, of: token)
  }
}

enum StandingSQL: String, SQLText {
  case standing = """
    SELECT rowid, (SELECT rev FROM activity_state WHERE context_key = ?2), delivered_rev,
      pruned_at_ms IS NOT NULL, user_id, kind, context_key, activity_id, attributes_type,
      environment, bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms
    FROM tokens WHERE token = ?1
    """
  /// A fifth cheaper than one by one. CROSS, so that SQLite begins with those that are asked for.
  case eightStandings = """
    WITH asked (place, token, context_key) AS (
      VALUES (0, ?, ?), (1, ?, ?), (2, ?, ?), (3, ?, ?), (4, ?, ?), (5, ?, ?), (6, ?, ?), (7, ?, ?))
    SELECT asked.place, t.rowid,
      (SELECT rev FROM activity_state WHERE context_key = asked.context_key), t.delivered_rev,
      t.pruned_at_ms IS NOT NULL, t.user_id, t.kind, t.context_key, t.activity_id,
      t.attributes_type, t.environment, t.bundle_id, t.device_id, t.frequent_pushes_enabled,
      t.registered_at_ms, t.proven_at_ms
    FROM asked CROSS JOIN tokens AS t ON t.token = asked.token
    """
  /// A place may be another token's by now.
  case raiseInPlace = """
    UPDATE tokens SET delivered_rev = ?3
    WHERE rowid = ?1 AND token = ?2 AND (delivered_rev IS NULL OR delivered_rev < ?3)
    """
  /// Changes no row when a newer rev is known of any. RETURNING would cost twice the update.
  case raiseDeliveredRev = """
    UPDATE tokens SET delivered_rev = ?2
    WHERE token = ?1 AND (delivered_rev IS NULL OR delivered_rev < ?2)
      AND NOT EXISTS (SELECT 1 FROM tokens WHERE token = ?1 AND delivered_rev > ?2)
    """
  case deliveredRev = "SELECT max(delivered_rev) FROM tokens WHERE token = ?"
}

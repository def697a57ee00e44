import Pipeline
import Pushes
import Vocabulary

/// What is asked and noted of every push.
extension PostgreSQLTransaction {
  func standings(of pushes: [(token: PushToken, context: ContextKey?)]) throws -> [PushStanding] {
    var standings = Array(repeating: PushStanding(), count: pushes.count)
    guard !pushes.isEmpty else { return standings }
    _ = try connection.rows(
      StandingSQL.standings, pushes.map(\.token), pushes.map(\.context)
    ) { row in
      let place = try row.next() as Int - 1
      standings[place].newestRev = try row.next()
      let deliveredRev: Int? = try row.next()
      standings[place].deliveredRev = [standings[place].deliveredRev, deliveredRev]
        .compactMap(\.self).max()
      let isPruned: Bool = try row.next()
      guard !isPruned else { return }
      standings[place].registrations.append(
        try readRegistration(&row, of: pushes[place].token))
    }
    return standings
  }

  func raiseDeliveredRev(to rev: Int, token: PushToken) throws -> Int? {
    try connection.first(StandingSQL.raiseDeliveredRev, token, rev) { try $0.next() as Int? } ?? nil
  }
}

enum StandingSQL: String, SQLText {
  case standings = """
    SELECT p.place, s.rev, t.delivered_rev,
      t.pruned_at_ms IS NOT NULL, t.user_id, t.kind, t.context_key, t.activity_id,
      t.attributes_type, t.environment, t.bundle_id, t.device_id, t.frequent_pushes_enabled,
      t.registered_at_ms, t.proven_at_ms
    FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS p (token, context_key, place)
      JOIN tokens AS t ON t.token = p.token
      LEFT JOIN activity_state AS s ON s.context_key = p.context_key
    ORDER BY p.place, t.registered_at_ms, t.kind, coalesce(t.attributes_type, '')
    """
  /// Changes no row when a newer rev is known of any. What it says is how things were before it,
  /// or what it made of them.
  case raiseDeliveredRev = """
    WITH raised AS (
      UPDATE tokens SET delivered_rev = $2
      WHERE token = $1 AND (delivered_rev IS NULL OR delivered_rev < $2)
        AND NOT EXISTS (SELECT 1 FROM tokens WHERE token = $1 AND delivered_rev > $2)
      RETURNING delivered_rev)
    SELECT max(delivered_rev) FROM (
      SELECT delivered_rev FROM tokens WHERE token = $1
      UNION ALL SELECT delivered_rev FROM raised) AS known
    """
}

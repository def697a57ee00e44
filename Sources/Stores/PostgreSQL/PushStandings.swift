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
      try standings[place].take(&row, of: pushes[place].token)
    }
    return standings
  }

  func raiseDeliveredRevs(_ accepted: [AcceptedRev]) throws -> [Int?] {
    var newest = [Int?](repeating: nil, count: accepted.count)
    guard !accepted.isEmpty else { return newest }
    _ = try connection.rows(
      StandingSQL.raiseDeliveredRevs, accepted.map(\.token), accepted.map(\.rev)
    ) { row in
      let place = try row.next() as Int - 1
      newest[place] = try row.next()
    }
    return newest
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
  /// Changes no row when a newer rev is known of any of the token. What it says is how things were
  /// before it, or what it made of them.
  case raiseDeliveredRevs = """
    WITH accepted AS (
      SELECT * FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS a (token, rev, place)),
    raised AS (
      UPDATE tokens AS t SET delivered_rev = a.rev FROM accepted AS a
      WHERE t.token = a.token AND (t.delivered_rev IS NULL OR t.delivered_rev < a.rev)
        AND NOT EXISTS (
          SELECT 1 FROM tokens AS o WHERE o.token = a.token AND o.delivered_rev > a.rev)
      RETURNING t.token, t.delivered_rev)
    SELECT a.place, max(greatest(t.delivered_rev, r.delivered_rev))
    FROM accepted AS a
      JOIN tokens AS t ON t.token = a.token
      LEFT JOIN raised AS r ON r.token = a.token
    GROUP BY a.place
    """
}

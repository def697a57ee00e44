import Pipeline
import Pushes
import Vocabulary

/// What is asked and noted of every push. One statement each: beside the record, the whole of what
/// a push costs in the store.
extension SQLiteTransaction {
  func standings(of pushes: [(token: PushToken, context: ContextKey?)]) throws -> [PushStanding] {
    let statement = try connection.prepared(StandingSQL.standing)
    return try pushes.map { token, context in
      var standing = PushStanding()
      try statement.each(token, context) { row in
        standing.newestRev = try row.next()
        let deliveredRev: Int? = try row.next()
        standing.deliveredRev = [standing.deliveredRev, deliveredRev].compactMap(\.self).max()
        let isPruned: Bool = try row.next()
        if !isPruned { standing.registrations.append(try readRegistration(&row, of: token)) }
      }
      standing.registrations = standing.registrations.inOrder
      return standing
    }
  }

  func raiseDeliveredRev(to rev: Int, token: PushToken) throws -> Int? {
    if try connection.run(StandingSQL.raiseDeliveredRev, token, rev) > 0 { return rev }
    return try connection.first(StandingSQL.deliveredRev, token) { try $0.next() as Int? } ?? nil
  }
}

enum StandingSQL: String, SQLText {
  case standing = """
    SELECT (SELECT rev FROM activity_state WHERE context_key = ?2), delivered_rev,
      pruned_at_ms IS NOT NULL, user_id, kind, context_key, activity_id, attributes_type,
      environment, bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms
    FROM tokens WHERE token = ?1
    """
  /// Changes no row when a newer rev is known of any. RETURNING would cost twice the update.
  case raiseDeliveredRev = """
    UPDATE tokens SET delivered_rev = ?2
    WHERE token = ?1 AND (delivered_rev IS NULL OR delivered_rev < ?2)
      AND NOT EXISTS (SELECT 1 FROM tokens WHERE token = ?1 AND delivered_rev > ?2)
    """
  case deliveredRev = "SELECT max(delivered_rev) FROM tokens WHERE token = ?"
}

enum TokenListingSQL: String, SQLText {
  case all = """
    SELECT rowid, token, user_id, kind, context_key, activity_id, attributes_type, environment,
      bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms,
      delivered_rev, pruned_at_ms, pruned_because
    FROM tokens
    WHERE (?1 IS NULL OR user_id = ?1) AND rowid > ?2 AND (?3 IS NULL OR kind = ?3)
      AND (?4 IS NULL OR (pruned_at_ms IS NOT NULL) = ?4)
      AND (?5 IS NULL OR pruned_because = ?5) AND (?6 IS NULL OR pruned_at_ms >= ?6)
      AND (?8 IS NULL OR (kind = 'la-update' AND context_key IS NULL) = ?8)
    ORDER BY rowid LIMIT ?7
    """
  case ofUser = """
    SELECT rowid, token, user_id, kind, context_key, activity_id, attributes_type, environment,
      bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms,
      delivered_rev, pruned_at_ms, pruned_because
    FROM tokens
    WHERE user_id = ?1 AND rowid > ?2 AND (?3 IS NULL OR kind = ?3)
      AND (?4 IS NULL OR (pruned_at_ms IS NOT NULL) = ?4)
      AND (?5 IS NULL OR pruned_because = ?5) AND (?6 IS NULL OR pruned_at_ms >= ?6)
      AND (?8 IS NULL OR (kind = 'la-update' AND context_key IS NULL) = ?8)
    ORDER BY rowid LIMIT ?7
    """
}

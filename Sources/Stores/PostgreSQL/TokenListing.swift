enum TokenListingSQL: String, SQLText {
  case all = """
    SELECT id, token, user_id, kind, context_key, activity_id, attributes_type, environment,
      bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms,
      delivered_rev, pruned_at_ms, pruned_because
    FROM tokens
    WHERE ($1::text IS NULL OR user_id = $1) AND id > $2 AND ($3::text IS NULL OR kind = $3)
      AND ($4::boolean IS NULL OR (pruned_at_ms IS NOT NULL) = $4)
      AND ($5::text IS NULL OR pruned_because = $5)
      AND ($6::bigint IS NULL OR pruned_at_ms >= $6)
      AND ($8::boolean IS NULL OR (kind = 'la-update' AND context_key IS NULL) = $8)
    ORDER BY id LIMIT $7
    """
  case ofUser = """
    SELECT id, token, user_id, kind, context_key, activity_id, attributes_type, environment,
      bundle_id, device_id, frequent_pushes_enabled, registered_at_ms, proven_at_ms,
      delivered_rev, pruned_at_ms, pruned_because
    FROM tokens
    WHERE user_id = $1 AND id > $2 AND ($3::text IS NULL OR kind = $3)
      AND ($4::boolean IS NULL OR (pruned_at_ms IS NOT NULL) = $4)
      AND ($5::text IS NULL OR pruned_because = $5)
      AND ($6::bigint IS NULL OR pruned_at_ms >= $6)
      AND ($8::boolean IS NULL OR (kind = 'la-update' AND context_key IS NULL) = $8)
    ORDER BY id LIMIT $7
    """
}

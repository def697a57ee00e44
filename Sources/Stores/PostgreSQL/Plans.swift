import Pipeline

extension Connection {
  /// The lines of `EXPLAIN`, for a plan that serves all values.
  ///
  /// - Throws: ``StoreError``.
  func plan(of sql: String) throws -> [String] {
    let highest = sql.matches(of: #/\$(\d+)/#).compactMap { Int($0.1) }.max() ?? 0
    let nulls = Array(repeating: "NULL", count: highest).joined(separator: ", ")
    try execute(script: "SET plan_cache_mode = force_generic_plan; PREPARE planned AS " + sql)
    let lines = try execute(
      script: "EXPLAIN EXECUTE planned" + (nulls.isEmpty ? "" : "(\(nulls))"))
    try execute(script: "DEALLOCATE planned; RESET plan_cache_mode")
    return lines
  }
}

import CPostgreSQL
import Pipeline

extension Connection {
  /// Runs a statement whose rows nobody wants; a failure shows at the latest at the commit.
  func run<each Value: SQLParameter>(_ sql: some SQLText, _ values: repeat each Value) throws {
    try post(sql, Parameters(repeat each values))
  }

  /// The same for rows that the statement takes as one list for each of their columns. Without any
  /// it is not run.
  func run(_ sql: some SQLText, columnsOf rows: some Collection<some SQLColumns>) throws {
    guard !rows.isEmpty else { return }
    try post(sql, Parameters(columnsOf: rows))
  }

  /// - Returns: how many rows it inserted, changed or removed.
  func count<each Value: SQLParameter>(_ sql: some SQLText, _ values: repeat each Value) throws
    -> Int
  {
    let result = try ask(sql, Parameters(repeat each values))
    defer { PQclear(result) }
    return PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
  }

  /// The first row, read by `read`; nil when there is none.
  func first<Element, each Value: SQLParameter>(
    _ sql: some SQLText, _ values: repeat each Value, read: (inout Row) throws -> Element
  ) throws -> Element? {
    try rows(sql, repeat each values, read: read).first
  }

  func rows<Element, each Value: SQLParameter>(
    _ sql: some SQLText, _ values: repeat each Value, read: (inout Row) throws -> Element
  ) throws -> [Element] {
    let result = try ask(sql, Parameters(repeat each values))
    defer { PQclear(result) }
    guard let result else { return [] }
    return try (0..<PQntuples(result)).map { number in
      var row = Row(result, number)
      return try read(&row)
    }
  }
}

import CPostgreSQL
import Pipeline

/// One value of a row, in PostgreSQL's binary form. Valid while its result is.
struct Field {
  fileprivate let result: OpaquePointer
  fileprivate let row: Int32
  fileprivate let column: Int32

  var isNull: Bool { PQgetisnull(result, row, column) != 0 }

  var bytes: UnsafeBufferPointer<UInt8> {
    let count = Int(PQgetlength(result, row, column))
    guard let start = PQgetvalue(result, row, column) else { return .init(start: nil, count: 0) }
    return UnsafeBufferPointer(
      start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: count)
  }

  func unreadable(_ wanted: String) -> StoreError {
    let name = PQfname(result, column).map { String(cString: $0) } ?? "\(column)"
    return StoreError("the database is damaged: column \(name) does not hold \(wanted)")
  }
}

/// A row, read column by column from the left.
struct Row {
  private let result: OpaquePointer
  private let row: Int32
  private var column: Int32 = 0

  init(_ result: OpaquePointer, _ row: Int32) {
    self.result = result
    self.row = row
  }

  /// The next column.
  ///
  /// - Throws: `StoreError` when the column holds no such value.
  mutating func next<Value: SQLValue>() throws -> Value {
    defer { column += 1 }
    return try Value.read(Field(result: result, row: row, column: column))
  }
}

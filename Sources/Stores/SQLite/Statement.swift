import CSQLite

/// Statements of one table. Raw values are literals, so no value can be pasted into the text, and a
/// test can look at the plan of each.
package protocol SQLText: RawRepresentable<String>, CaseIterable, Sendable {}

/// One prepared statement.
struct Statement {
  private let handle: OpaquePointer

  init(handle: OpaquePointer) { self.handle = handle }

  /// - Returns: `SQLITE_OK`, or the first other code.
  func bind<each Value: SQLValue>(_ values: repeat each Value) -> Int32 {
    var parameters = Parameters(handle: handle)
    parameters.append(repeat each values)
    return parameters.finished()
  }

  /// Has `body` append one value per parameter.
  ///
  /// - Returns: `SQLITE_OK`, or the first other code.
  func bind(_ body: (inout Parameters) -> Void) -> Int32 {
    var parameters = Parameters(handle: handle)
    body(&parameters)
    return parameters.finished()
  }

  func step() -> Int32 { sqlite3_step(handle) }

  /// The row that the last step gave.
  var row: Row { Row(handle: handle) }

  /// Makes it ready for the next use, and lets go of what it read.
  func reset() {
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  func finalize() { sqlite3_finalize(handle) }
}

/// The parameters of a statement, filled from the first on.
struct Parameters {
  private let handle: OpaquePointer
  private var count: Int32 = 0
  private var code = SQLITE_OK

  fileprivate init(handle: OpaquePointer) { self.handle = handle }

  mutating func append<each Value: SQLValue>(_ values: repeat each Value) {
    for value in repeat each values {
      guard code == SQLITE_OK else { return }
      count += 1
      code = value.bind(to: handle, at: count)
    }
  }

  /// - Returns: `SQLITE_OK`, or the first other code.
  fileprivate func finished() -> Int32 {
    precondition(
      code != SQLITE_OK || count == sqlite3_bind_parameter_count(handle),
      "one value per parameter")
    return code
  }
}

/// A row, read column by column from the left.
struct Row {
  private let handle: OpaquePointer
  private var column: Int32 = 0

  fileprivate init(handle: OpaquePointer) { self.handle = handle }

  /// The next column.
  ///
  /// - Throws: `StoreError` when the column holds no such value.
  mutating func next<Value: SQLValue>() throws -> Value {
    defer { column += 1 }
    return try Value.read(handle, column)
  }
}

import Foundation
import Pipeline

// How values go into a database and come out of it. A store says how it writes and reads the few
// forms that columns have; everything else is made of them here, once for both.

/// The forms that columns have.
enum SQLType { case text, integer, boolean, bytes }

// MARK: Writing

/// Takes in one value after the other, each for a column of its own.
protocol ColumnWriter {
  /// NULL, where a value of this type could be.
  mutating func null(_ type: SQLType)
  mutating func integer(_ number: Int64)
  mutating func boolean(_ flag: Bool)
  mutating func text(_ text: String)
  /// Text, as its bytes in UTF-8.
  mutating func text(utf8: Data)
  mutating func bytes(_ bytes: Data)
}

/// Takes in the parameters of one statement, from the first on.
protocol ParameterWriter: ColumnWriter {
  /// A list as one parameter.
  mutating func list<Element: SQLValue>(_ elements: [Element])
}

/// What can be given to a statement.
protocol SQLParameter {
  func bind(to parameters: inout some ParameterWriter)
}

/// What fills columns: a value one, a row as many as it has, in an order that never changes.
protocol SQLColumns: SQLParameter {
  func write(to columns: inout some ColumnWriter)
}

/// A value that is kept as one row, and read in the order in which it is written.
protocol StoredRow: SQLColumns {
  /// - Throws: ``StoreError`` when a column holds something else.
  init(row: inout some SQLRow) throws
}

/// What stands in one column.
protocol SQLValue: SQLColumns {
  static var type: SQLType { get }
  /// - Throws: ``StoreError`` when the column holds no such value.
  static func read(_ column: some SQLColumn) throws -> Self
}

extension SQLColumns {
  func bind(to parameters: inout some ParameterWriter) {
    write(to: &parameters)
  }
}

extension ColumnWriter {
  mutating func append<each Value: SQLColumns>(_ values: repeat each Value) {
    for value in repeat each values { value.write(to: &self) }
  }
}

extension ParameterWriter {
  mutating func bind<each Value: SQLParameter>(_ values: repeat each Value) {
    for value in repeat each values { value.bind(to: &self) }
  }
}

extension Array: SQLParameter where Element: SQLValue {
  func bind(to parameters: inout some ParameterWriter) {
    parameters.list(self)
  }
}

// MARK: Reading

/// One column of a row that was found. Valid while the row is.
///
/// Each of its forms throws ``StoreError`` when it holds none such.
protocol SQLColumn {
  /// For the person who must put it right.
  var name: String { get }
  var isNull: Bool { get }
  func integer() throws -> Int64
  func boolean() throws -> Bool
  func text() throws -> String
  /// Text, as its bytes in UTF-8.
  func utf8() throws -> Data
  func bytes() throws -> Data
}

extension SQLColumn {
  func unreadable(_ wanted: String) -> StoreError {
    StoreError("the database is damaged: column \(name) does not hold \(wanted)")
  }
}

/// A row that was found, read column by column from the left.
protocol SQLRow {
  associatedtype Column: SQLColumn
  mutating func nextColumn() -> Column
}

extension SQLRow {
  /// The next column.
  ///
  /// - Throws: ``StoreError`` when the column holds no such value.
  mutating func next<Value: SQLValue>() throws -> Value {
    try Value.read(nextColumn())
  }

  /// The next column, which holds JSON of a `Value`. `name`: the value's, `a stored session`.
  ///
  /// - Throws: ``StoreError`` when it holds something else.
  mutating func decoded<Value: Decodable>(_ name: String) throws -> Value {
    try (next() as JSONText).decoded(name)
  }
}

// MARK: The system's values

extension Optional: SQLParameter where Wrapped: SQLValue {}
extension Optional: SQLColumns where Wrapped: SQLValue {}

extension Optional: SQLValue where Wrapped: SQLValue {
  static var type: SQLType { Wrapped.type }

  func write(to columns: inout some ColumnWriter) {
    if let self { self.write(to: &columns) } else { columns.null(Wrapped.type) }
  }

  static func read(_ column: some SQLColumn) throws -> Wrapped? {
    column.isNull ? nil : try Wrapped.read(column)
  }
}

extension Int64: SQLValue {
  static var type: SQLType { .integer }

  func write(to columns: inout some ColumnWriter) { columns.integer(self) }

  static func read(_ column: some SQLColumn) throws -> Int64 {
    try column.integer()
  }
}

extension Int: SQLValue {
  static var type: SQLType { .integer }

  func write(to columns: inout some ColumnWriter) {
    columns.integer(Int64(self))
  }

  static func read(_ column: some SQLColumn) throws -> Int {
    Int(try column.integer())
  }
}

extension Bool: SQLValue {
  static var type: SQLType { .boolean }

  func write(to columns: inout some ColumnWriter) { columns.boolean(self) }

  static func read(_ column: some SQLColumn) throws -> Bool {
    try column.boolean()
  }
}

extension String: SQLValue {
  static var type: SQLType { .text }

  func write(to columns: inout some ColumnWriter) { columns.text(self) }

  static func read(_ column: some SQLColumn) throws -> String {
    try column.text()
  }
}

extension Data: SQLValue {
  static var type: SQLType { .bytes }

  func write(to columns: inout some ColumnWriter) { columns.bytes(self) }

  static func read(_ column: some SQLColumn) throws -> Data {
    try column.bytes()
  }
}

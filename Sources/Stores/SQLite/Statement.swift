import CSQLite
import Foundation
import Vocabulary

/// One prepared statement.
struct Statement {
  private let handle: OpaquePointer

  init(handle: OpaquePointer) { self.handle = handle }

  /// - Returns: `SQLITE_OK`, or the first other code.
  func bind<each Value: SQLParameter>(_ values: repeat each Value) -> Int32 {
    var parameters = Parameters(handle: handle)
    parameters.bind(repeat each values)
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
struct Parameters: ParameterWriter {
  private let handle: OpaquePointer
  private var count: Int32 = 0
  private var code = SQLITE_OK

  fileprivate init(handle: OpaquePointer) { self.handle = handle }

  /// - Parameter bind: gives the parameter of that number its value, and returns SQLite's code.
  private mutating func next(_ bind: (_ handle: OpaquePointer, _ number: Int32) -> Int32) {
    guard code == SQLITE_OK else { return }
    count += 1
    code = bind(handle, count)
  }

  mutating func null(_ type: SQLType) { next { sqlite3_bind_null($0, $1) } }

  mutating func integer(_ number: Int64) { next { sqlite3_bind_int64($0, $1, number) } }

  mutating func boolean(_ flag: Bool) { integer(flag ? 1 : 0) }

  mutating func text(_ text: String) {
    var text = text
    text.withUTF8 { self.text(UnsafeRawBufferPointer($0)) }
  }

  mutating func text(utf8: Data) { utf8.withUnsafeBytes { text($0) } }

  private mutating func text(_ bytes: UnsafeRawBufferPointer) {
    // A nil pointer would bind NULL; an empty text has one.
    let start = bytes.bindMemory(to: CChar.self).baseAddress ?? emptyText
    next {
      sqlite3_bind_text64($0, $1, start, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
    }
  }

  mutating func bytes(_ bytes: Data) {
    if bytes.isEmpty { return next { sqlite3_bind_zeroblob($0, $1, 0) } }
    bytes.withUnsafeBytes { bytes in
      next { sqlite3_bind_blob64($0, $1, bytes.baseAddress, UInt64(bytes.count), transient) }
    }
  }

  /// As `json_each` takes it.
  mutating func list<Element: SQLValue>(_ elements: [Element]) {
    var list = JSONList()
    for element in elements { element.write(to: &list) }
    text(utf8: JSON.encoded(list.elements))
  }

  /// - Returns: `SQLITE_OK`, or the first other code.
  fileprivate func finished() -> Int32 {
    precondition(
      code != SQLITE_OK || count == sqlite3_bind_parameter_count(handle),
      "one value per parameter")
    return code
  }
}

/// Tells SQLite to copy what it is given.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
nonisolated(unsafe) private let emptyText = UnsafePointer(strdup("")!)

private struct JSONList: ColumnWriter {
  private(set) var elements: [JSONValue] = []

  mutating func null(_ type: SQLType) { elements.append(.null) }
  mutating func integer(_ number: Int64) { elements.append(.integer(number)) }
  mutating func boolean(_ flag: Bool) { integer(flag ? 1 : 0) }
  mutating func text(_ text: String) { elements.append(.string(text)) }
  mutating func text(utf8: Data) { text(String(decoding: utf8, as: UTF8.self)) }
  mutating func bytes(_ bytes: Data) { text(bytes.base64EncodedString()) }
}

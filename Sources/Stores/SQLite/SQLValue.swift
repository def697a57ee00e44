import CSQLite
import Foundation
import Pipeline
import Pushes
import Sessions
import Vocabulary

/// What can be bound to a parameter and read from a column.
protocol SQLValue {
  /// - Returns: a SQLite result code.
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32
  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> Self
}

/// Tells SQLite to copy what it is given.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

private func unreadable(_ statement: OpaquePointer, _ column: Int32, _ wanted: String) -> StoreError
{
  let name = sqlite3_column_name(statement, column).map { String(cString: $0) } ?? "\(column)"
  return StoreError("the database is damaged: column \(name) does not hold \(wanted)")
}

extension Optional: SQLValue where Wrapped: SQLValue {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    self?.bind(to: statement, at: index) ?? sqlite3_bind_null(statement, index)
  }

  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> Wrapped? {
    if sqlite3_column_type(statement, column) == SQLITE_NULL { return nil }
    return try Wrapped.read(statement, column)
  }
}

extension Int64: SQLValue {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_int64(statement, index, self)
  }

  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> Int64 {
    guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else {
      throw unreadable(statement, column, "a number")
    }
    return sqlite3_column_int64(statement, column)
  }
}

extension String: SQLValue {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    var text = self
    return text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        // A nil pointer would bind NULL; an empty string has one.
        let start = characters.baseAddress.map { UnsafePointer($0) }
        return sqlite3_bind_text64(
          statement, index, start ?? emptyText, UInt64(characters.count), transient,
          UInt8(SQLITE_UTF8))
      }
    }
  }

  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> String {
    guard sqlite3_column_type(statement, column) == SQLITE_TEXT,
      let start = sqlite3_column_text(statement, column)
    else { throw unreadable(statement, column, "text") }
    let bytes = UnsafeBufferPointer(
      start: start, count: Int(sqlite3_column_bytes(statement, column)))
    return String(decoding: bytes, as: UTF8.self)
  }
}

nonisolated(unsafe) private let emptyText = UnsafePointer(strdup("")!)

extension Data: SQLValue {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    if isEmpty { return sqlite3_bind_zeroblob(statement, index, 0) }
    return withUnsafeBytes { bytes in
      sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), transient)
    }
  }

  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> Data {
    // The bytes first: the length is the one of the form asked for last.
    let start = sqlite3_column_blob(statement, column)
    let count = Int(sqlite3_column_bytes(statement, column))
    guard let start else { return Data() }
    return Data(bytes: start, count: count)
  }
}

/// JSON text, kept byte for byte in a TEXT column.
struct JSONText: SQLValue {
  let data: Data

  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    data.withUnsafeBytes { bytes in
      let start = bytes.bindMemory(to: CChar.self).baseAddress
      return sqlite3_bind_text64(
        statement, index, start ?? emptyText, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
    }
  }

  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> JSONText {
    JSONText(data: try Data.read(statement, column))
  }
}

// MARK: Values of ours

extension Int: SQLValue {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    Int64(self).bind(to: statement, at: index)
  }

  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> Int {
    Int(try Int64.read(statement, column))
  }
}

extension Bool: SQLValue {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_int64(statement, index, self ? 1 : 0)
  }

  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> Bool {
    try Int64.read(statement, column) != 0
  }
}

extension UnixTime: SQLValue {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    milliseconds.bind(to: statement, at: index)
  }

  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> UnixTime {
    UnixTime(milliseconds: try Int64.read(statement, column))
  }
}

extension Identifier: SQLValue {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    text.bind(to: statement, at: index)
  }

  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> Identifier {
    Identifier(try String.read(statement, column))
  }
}

extension PushToken: SQLValue {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    hex.bind(to: statement, at: index)
  }

  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> PushToken {
    do {
      return try PushToken(hex: String.read(statement, column))
    } catch let error as PushTokenError {
      throw unreadable(statement, column, "a token: it \(error)")
    }
  }
}

extension SQLValue where Self: RawRepresentable, RawValue == String {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    rawValue.bind(to: statement, at: index)
  }

  static func read(_ statement: OpaquePointer, _ column: Int32) throws -> Self {
    let text = try String.read(statement, column)
    guard let value = Self(rawValue: text) else {
      throw unreadable(statement, column, "a \(Self.self): \"\(text.prefix(40))\"")
    }
    return value
  }
}

extension TokenKind: SQLValue {}
extension PushEnvironment: SQLValue {}
extension SessionState: SQLValue {}
extension Participant.Status: SQLValue {}
extension ActivityState.Event: SQLValue {}
extension PhoneReport.State: SQLValue {}
extension BuildRecord.Outcome: SQLValue {}
extension DeliveryRecord.Consequence: SQLValue {}

import CSQLite
import Foundation
import Pipeline

/// The row that a statement stands at. Valid until its next step.
struct Row: SQLRow {
  private let handle: OpaquePointer
  private var index: Int32 = 0

  init(handle: OpaquePointer) { self.handle = handle }

  mutating func nextColumn() -> Column {
    defer { index += 1 }
    return Column(handle: handle, index: index)
  }
}

struct Column: SQLColumn {
  fileprivate let handle: OpaquePointer
  fileprivate let index: Int32

  var name: String {
    sqlite3_column_name(handle, index).map { String(cString: $0) } ?? "\(index)"
  }

  private var type: Int32 { sqlite3_column_type(handle, index) }

  var isNull: Bool { type == SQLITE_NULL }

  func integer() throws -> Int64 {
    guard type == SQLITE_INTEGER else { throw unreadable("a number") }
    return sqlite3_column_int64(handle, index)
  }

  func boolean() throws -> Bool { try integer() != 0 }

  func text() throws -> String {
    guard type == SQLITE_TEXT, let start = sqlite3_column_text(handle, index) else {
      throw unreadable("text")
    }
    let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index)))
    return String(decoding: bytes, as: UTF8.self)
  }

  func utf8() throws -> Data {
    guard type == SQLITE_TEXT else { throw unreadable("text") }
    return blob
  }

  func bytes() throws -> Data {
    guard type == SQLITE_BLOB else { throw unreadable("bytes") }
    return blob
  }

  private var blob: Data {
    // The bytes first: the length is the one of the form asked for last.
    let start = sqlite3_column_blob(handle, index)
    let count = Int(sqlite3_column_bytes(handle, index))
    guard let start else { return Data() }
    return Data(bytes: start, count: count)
  }
}

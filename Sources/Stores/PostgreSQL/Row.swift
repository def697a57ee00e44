import CPostgreSQL
import Foundation
import Pipeline

/// One row of a result. Valid while the result is.
struct Row: SQLRow {
  private let result: OpaquePointer
  private let row: Int32
  private var index: Int32 = 0

  init(_ result: OpaquePointer, _ row: Int32) {
    self.result = result
    self.row = row
  }

  mutating func nextColumn() -> Column {
    defer { index += 1 }
    return Column(result: result, row: row, index: index)
  }
}

/// One value of a row, in PostgreSQL's binary form.
struct Column: SQLColumn {
  fileprivate let result: OpaquePointer
  fileprivate let row: Int32
  fileprivate let index: Int32

  var name: String { PQfname(result, index).map { String(cString: $0) } ?? "\(index)" }

  var isNull: Bool { PQgetisnull(result, row, index) != 0 }

  func integer() throws -> Int64 {
    let bytes = stored
    guard !isNull, bytes.count == 8 else { throw unreadable("a number") }
    return bytes.reduce(0) { $0 << 8 | Int64($1) }
  }

  func boolean() throws -> Bool {
    let bytes = stored
    guard !isNull, bytes.count == 1 else { throw unreadable("true or false") }
    return bytes[0] != 0
  }

  func text() throws -> String {
    guard !isNull else { throw unreadable("text") }
    return StoredText.read(stored) { String(decoding: $0, as: UTF8.self) }
  }

  func utf8() throws -> Data {
    guard !isNull else { throw unreadable("text") }
    return StoredText.read(stored) { Data($0) }
  }

  func bytes() throws -> Data {
    guard !isNull else { throw unreadable("bytes") }
    return Data(stored)
  }

  private var stored: UnsafeBufferPointer<UInt8> {
    let count = Int(PQgetlength(result, row, index))
    guard let start = PQgetvalue(result, row, index) else { return .init(start: nil, count: 0) }
    return UnsafeBufferPointer(
      start: UnsafeRawPointer(start).assumingMemoryBound(to: UInt8.self), count: count)
  }
}

import Foundation

/// How a value travels: PostgreSQL's number of its type, and of arrays of it.
extension SQLType {
  var number: UInt32 {
    switch self {
    case .text: 25
    case .integer: 20
    case .boolean: 16
    case .bytes: 17
    }
  }

  var arrayNumber: UInt32 {
    switch self {
    case .text: 1009
    case .integer: 1016
    case .boolean: 1000
    case .bytes: 1001
    }
  }
}

/// Writes values in PostgreSQL's binary form.
protocol BinaryWriter: ColumnWriter {
  /// Adds a value, whose bytes are those that `write` appends.
  mutating func add(_ type: SQLType, _ write: (inout [UInt8]) -> Void)
}

extension BinaryWriter {
  mutating func integer(_ number: Int64) { add(.integer) { $0.append(bigEndian: number) } }

  mutating func boolean(_ flag: Bool) { add(.boolean) { $0.append(flag ? 1 : 0) } }

  mutating func text(_ text: String) {
    var text = text
    add(.text) { bytes in text.withUTF8 { StoredText.write($0, to: &bytes) } }
  }

  mutating func text(utf8: Data) {
    add(.text) { bytes in
      utf8.withUnsafeBytes { StoredText.write($0.bindMemory(to: UInt8.self), to: &bytes) }
    }
  }

  mutating func bytes(_ data: Data) { add(.bytes) { $0.append(contentsOf: data) } }
}

/// A list while it is written: `= ANY($1)`, `unnest($1)`.
struct BinaryList: BinaryWriter {
  let type: SQLType
  private var count = 0
  /// Each element behind its length.
  private var elements: [UInt8] = []

  init(of type: SQLType) { self.type = type }

  mutating func null(_ type: SQLType) {
    count += 1
    elements.append(bigEndian: Int32(-1))
  }

  mutating func add(_ type: SQLType, _ write: (inout [UInt8]) -> Void) {
    count += 1
    let place = elements.count
    elements.append(bigEndian: Int32(0))
    write(&elements)
    elements.put(Int32(elements.count - place - 4), at: place)
  }

  /// Appends the whole list.
  func write(to bytes: inout [UInt8]) {
    guard count > 0 else {
      bytes.append(bigEndian: Int32(0))
      bytes.append(bigEndian: Int32(0))
      bytes.append(bigEndian: type.number)
      return
    }
    // One dimension, may hold NULLs, the elements' type; how many, counted from 1.
    for number in [Int32(1), 1] { bytes.append(bigEndian: number) }
    bytes.append(bigEndian: type.number)
    for number in [Int32(count), 1] { bytes.append(bigEndian: number) }
    bytes += elements
  }
}

/// Rows, turned into a list for each of their columns.
struct ColumnLists: BinaryWriter {
  private(set) var lists: [BinaryList] = []
  private var column = 0

  mutating func add(_ row: some SQLColumns) {
    column = 0
    row.write(to: &self)
  }

  mutating func null(_ type: SQLType) {
    enter(type)
    lists[column - 1].null(type)
  }

  mutating func add(_ type: SQLType, _ write: (inout [UInt8]) -> Void) {
    enter(type)
    lists[column - 1].add(type, write)
  }

  /// The first row says which columns there are.
  private mutating func enter(_ type: SQLType) {
    if column == lists.count { lists.append(BinaryList(of: type)) }
    column += 1
  }
}

extension [UInt8] {
  /// Appends in network order.
  mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
    Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
  }

  /// Writes over four bytes.
  mutating func put(_ number: Int32, at place: Int) {
    Swift.withUnsafeBytes(of: number.bigEndian) { bytes in
      for (offset, byte) in bytes.enumerated() { self[place + offset] = byte }
    }
  }
}

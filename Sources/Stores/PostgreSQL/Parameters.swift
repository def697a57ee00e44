/// How a value travels: PostgreSQL's number of its type, and of arrays of it.
struct SQLType {
  let number: UInt32
  let arrayNumber: UInt32

  static let text = SQLType(number: 25, arrayNumber: 1009)
  static let integer = SQLType(number: 20, arrayNumber: 1016)
  static let boolean = SQLType(number: 16, arrayNumber: 1000)
  static let bytes = SQLType(number: 17, arrayNumber: 1001)
}

/// The values of one statement, in PostgreSQL's binary form: one buffer for all.
struct Parameters {
  private(set) var types: [UInt32] = []
  private var bytes: [UInt8] = []
  /// Nil: NULL.
  private var places: [Range<Int>?] = []

  init<each Value: SQLValue>(_ values: repeat each Value) {
    for value in repeat each values { add(value) }
  }

  private mutating func add<Value: SQLValue>(_ value: Value) {
    types.append(Value.parameterType)
    let start = bytes.count
    places.append(value.write(to: &bytes) ? start..<bytes.count : nil)
  }

  /// Calls `body` with what libpq wants: where each value begins, how long it is, and that it is
  /// binary. Valid only inside.
  func withPointers<Result>(
    _ body: (_ starts: [UnsafePointer<CChar>?], _ lengths: [Int32], _ formats: [Int32]) -> Result
  ) -> Result {
    // One byte more: an empty value must point somewhere, or it would be NULL.
    (bytes + [0]).withUnsafeBytes { buffer in
      let base = buffer.bindMemory(to: CChar.self).baseAddress
      return body(
        places.map { place in place.flatMap { range in base.map { $0 + range.lowerBound } } },
        places.map { Int32($0?.count ?? 0) }, Array(repeating: 1, count: places.count))
    }
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

/// A list as one parameter: `= ANY($1)`, `unnest($1)`.
extension Array: SQLValue where Element: SQLValue {
  static var type: SQLType { Element.type }
  static var parameterType: UInt32 { Element.type.arrayNumber }

  func write(to bytes: inout [UInt8]) -> Bool {
    guard !isEmpty else {
      bytes.append(bigEndian: Int32(0))
      bytes.append(bigEndian: Int32(0))
      bytes.append(bigEndian: Element.type.number)
      return true
    }
    // One dimension, may hold NULLs, the elements' type; how many, counted from 1.
    for number in [Int32(1), 1] { bytes.append(bigEndian: number) }
    bytes.append(bigEndian: Element.type.number)
    for number in [Int32(count), 1] { bytes.append(bigEndian: number) }
    for element in self {
      let place = bytes.count
      bytes.append(bigEndian: Int32(-1))
      if element.write(to: &bytes) { bytes.put(Int32(bytes.count - place - 4), at: place) }
    }
    return true
  }

  static func read(_ field: Field) throws -> [Element] {
    throw field.unreadable("a list: lists are only sent")
  }
}

/// The values of one statement, in PostgreSQL's binary form: one buffer for all.
struct Parameters: BinaryWriter, ParameterWriter {
  /// PostgreSQL's numbers of their types.
  private(set) var types: [UInt32] = []
  private var bytes: [UInt8] = []
  /// Nil: NULL.
  private var places: [Range<Int>?] = []

  init<each Value: SQLParameter>(_ values: repeat each Value) { bind(repeat each values) }

  /// One list for each column of `rows`, for a statement that takes them by `unnest`.
  init(columnsOf rows: some Sequence<some SQLColumns>) {
    var columns = ColumnLists()
    for row in rows { columns.add(row) }
    for list in columns.lists { add(list) }
  }

  mutating func null(_ type: SQLType) {
    types.append(type.number)
    places.append(nil)
  }

  mutating func add(_ type: SQLType, _ write: (inout [UInt8]) -> Void) {
    add(type.number, write)
  }

  mutating func list<Element: SQLValue>(_ elements: [Element]) {
    var list = BinaryList(of: Element.type)
    for element in elements { element.write(to: &list) }
    add(list)
  }

  private mutating func add(_ list: BinaryList) { add(list.type.arrayNumber, list.write) }

  private mutating func add(_ number: UInt32, _ write: (inout [UInt8]) -> Void) {
    types.append(number)
    let start = bytes.count
    write(&bytes)
    places.append(start..<bytes.count)
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

import Glibc

/// The headers of one message as they came, names in lower case. Strings are made only of what is
/// asked for.
package struct HeaderBlock: Sendable {
  /// More is cut off: APNs needs a tenth of it.
  static let bytesMax = 65_536

  private var bytes: [UInt8] = []
  /// Name end and value end of each field, in turn.
  private var ends: [Int32] = []

  init() {}

  package init(_ fields: [(name: String, value: String)]) {
    for (name, value) in fields {
      bytes += name.lowercased().utf8
      ends.append(Int32(bytes.count))
      bytes += value.utf8
      ends.append(Int32(bytes.count))
    }
  }

  mutating func append(
    name: UnsafePointer<UInt8>, count nameCount: Int, value: UnsafePointer<UInt8>,
    count valueCount: Int
  ) {
    guard bytes.count + nameCount + valueCount <= Self.bytesMax else { return }
    bytes.append(contentsOf: UnsafeBufferPointer(start: name, count: nameCount))
    ends.append(Int32(bytes.count))
    bytes.append(contentsOf: UnsafeBufferPointer(start: value, count: valueCount))
    ends.append(Int32(bytes.count))
  }

  /// Keeps the room for the next message.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  var isEmpty: Bool { ends.isEmpty }

  /// Every field in the order it came, pseudo fields (`:status`, `:path`) too.
  package var fields: [(name: String, value: String)] {
    var start = 0
    return stride(from: 0, to: ends.count, by: 2).map { index in
      let (nameEnd, valueEnd) = (Int(ends[index]), Int(ends[index + 1]))
      defer { start = valueEnd }
      return (
        String(decoding: bytes[start..<nameEnd], as: UTF8.self),
        String(decoding: bytes[nameEnd..<valueEnd], as: UTF8.self)
      )
    }
  }

  /// The first value of a field, its name in lower case; nil when it is missing.
  package subscript(name: StaticString) -> String? {
    withValue(of: name) { $0.map { String(decoding: $0, as: UTF8.self) } }
  }

  package subscript(name: String) -> String? {
    var name = name
    return name.withUTF8 { name in
      value(of: name) { $0.map { String(decoding: $0, as: UTF8.self) } }
    }
  }

  /// Reads a value in place.
  package func withValue<Result>(
    of name: StaticString, _ read: (UnsafeBufferPointer<UInt8>?) -> Result
  ) -> Result {
    value(
      of: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), read)
  }

  private func value<Result>(
    of name: UnsafeBufferPointer<UInt8>, _ read: (UnsafeBufferPointer<UInt8>?) -> Result
  ) -> Result {
    bytes.withUnsafeBufferPointer { all in
      guard let base = all.baseAddress, let wanted = name.baseAddress else { return read(nil) }
      var start = 0
      var index = 0
      while index < ends.count {
        let (nameEnd, valueEnd) = (Int(ends[index]), Int(ends[index + 1]))
        if nameEnd - start == name.count, memcmp(base + start, wanted, name.count) == 0 {
          return read(UnsafeBufferPointer(rebasing: all[nameEnd..<valueEnd]))
        }
        start = valueEnd
        index += 2
      }
      return read(nil)
    }
  }
}

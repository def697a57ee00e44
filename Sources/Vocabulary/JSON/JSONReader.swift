import Foundation

/// Reads one JSON text (RFC 8259), in UTF-8, into values: one walk over the bytes, which costs a
/// fraction of what Foundation's reader does. Of two members of one name the first counts.
struct JSONReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var place = 0
  /// In how many arrays and objects the next value lies.
  private var depth = 0
  /// The member or element of the document that is being read, for errors.
  private var outermost: (any CodingKey)?

  /// - Throws: `DecodingError`: `dataCorrupted`, of the whole document when it is not JSON.
  static func read(_ text: Data) throws(DecodingError) -> JSONValue {
    let result = text.withUnsafeBytes { bytes in
      Result<JSONValue, DecodingError> { () throws(DecodingError) in
        var reader = JSONReader(bytes: bytes.bindMemory(to: UInt8.self))
        let value = try reader.value()
        reader.skipBlanks()
        guard reader.place == reader.bytes.count else { throw reader.malformed }
        return value
      }
    }
    return try result.get()
  }

  private init(bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  private var malformed: DecodingError {
    .dataCorrupted(.init(codingPath: [], debugDescription: "not JSON at byte \(place)"))
  }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      place += 1
    }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  private mutating func take(word: StaticString) throws(DecodingError) {
    let rest = UnsafeBufferPointer(rebasing: bytes[place...])
    guard word.withUTF8Buffer({ rest.starts(with: $0) }) else { throw malformed }
    place += word.utf8CodeUnitCount
  }

  /// Blanks, and the value behind them.
  private mutating func value() throws(DecodingError) -> JSONValue {
    guard depth <= JSONValue.depthMax else {
      throw .dataCorrupted(
        .init(
          codingPath: outermost.map { [$0] } ?? [],
          debugDescription: "nested deeper than \(JSONValue.depthMax) levels"))
    }
    skipBlanks()
    switch next {
    case UInt8(ascii: "{"): return .object(try object())
    case UInt8(ascii: "["): return .array(try array())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"):
      try take(word: "true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try take(word: "false")
      return .bool(false)
    case UInt8(ascii: "n"):
      try take(word: "null")
      return .null
    default: return try number()
    }
  }

  private mutating func object() throws(DecodingError) -> [String: JSONValue] {
    place += 1
    depth += 1
    defer { depth -= 1 }
    skipBlanks()
    if take("}") { return [:] }
    // Counted before they are kept: a dictionary that grows hashes all it holds again.
    var found: [(name: String, value: JSONValue)] = []
    repeat {
      skipBlanks()
      let name = try string()
      if depth == 1 { outermost = JSONKey(name) }
      skipBlanks()
      guard take(":") else { throw malformed }
      found.append((name, try value()))
      skipBlanks()
    } while take(",")
    guard take("}") else { throw malformed }
    var members = [String: JSONValue](minimumCapacity: found.count)
    // Backwards, so that the first of one name is what stays.
    for (name, value) in found.reversed() { members[name] = value }
    return members
  }

  private mutating func array() throws(DecodingError) -> [JSONValue] {
    place += 1
    depth += 1
    defer { depth -= 1 }
    skipBlanks()
    if take("]") { return [] }
    var found: [JSONValue] = []
    repeat {
      if depth == 1 { outermost = JSONKey(found.count) }
      found.append(try value())
      skipBlanks()
    } while take(",")
    guard take("]") else { throw malformed }
    return found
  }
}

// MARK: Numbers and strings

extension JSONReader {
  private mutating func digits() throws(DecodingError) {
    let start = place
    while let byte = next, (0x30...0x39).contains(byte) { place += 1 }
    guard place > start else { throw malformed }
  }

  /// A whole number of 64 bits however it is spelled, else the nearest fraction.
  private mutating func number() throws(DecodingError) -> JSONValue {
    let start = place
    var isWhole = true
    _ = take("-")
    if !take("0") { try digits() }
    if take(".") {
      isWhole = false
      try digits()
    }
    if take("e") || take("E") {
      isWhole = false
      if !take("+") { _ = take("-") }
      try digits()
    }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    if isWhole, let whole = Int64(text) { return .integer(whole) }
    guard let value = Double(text), value.isFinite else { throw malformed }
    return Int64(exactly: value).map { .integer($0) } ?? .number(value)
  }

  private mutating func string() throws(DecodingError) -> String {
    guard take("\"") else { throw malformed }
    let start = place
    var all: UInt8 = 0
    while let byte = next, byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
      guard byte >= 0x20 else { throw malformed }
      all |= byte
      place += 1
    }
    let found = UnsafeBufferPointer(rebasing: bytes[start..<place])
    guard take("\"") else { throw malformed }
    // ASCII need not be proven to be UTF-8, which costs more than all the rest.
    if all < 0x80 { return String(decoding: found, as: UTF8.self) }
    guard let text = String(validating: found, as: UTF8.self) else { throw malformed }
    return text
  }

  /// The rest of a string that was read from `start` up to its first backslash.
  private mutating func escapedString(from start: Int) throws(DecodingError) -> String {
    var text = Array(bytes[start..<place])
    while let byte = next, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw malformed }
      place += 1
      if byte == UInt8(ascii: "\\") {
        text.append(contentsOf: String(Character(try escaped())).utf8)
      } else {
        text.append(byte)
      }
    }
    guard take("\""), let text = String(validating: text, as: UTF8.self) else { throw malformed }
    return text
  }

  private mutating func escaped() throws(DecodingError) -> Unicode.Scalar {
    guard let byte = next else { throw malformed }
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try escapedByNumber()
    default: throw malformed
    }
  }

  private mutating func escapedByNumber() throws(DecodingError) -> Unicode.Scalar {
    let unit = try fourDigits()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard (0xD800...0xDBFF).contains(unit), take("\\"), take("u") else { throw malformed }
    let second = try fourDigits()
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00))
    else { throw malformed }
    return scalar
  }

  private mutating func fourDigits() throws(DecodingError) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw malformed
      }
      unit = unit << 4 | UInt32(digit)
      place += 1
    }
    return unit
  }
}

/// A member's name or an element's place, on the way to a value.
struct JSONKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(_ name: String) {
    stringValue = name
    intValue = nil
  }

  init(_ place: Int) {
    stringValue = "\(place)"
    intValue = place
  }

  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { self.init(intValue) }
}

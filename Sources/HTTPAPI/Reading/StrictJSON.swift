import Foundation
import Vocabulary

/// Reads a JSON text (RFC 8259) and refuses what a lenient reader would silently drop or mend:
/// a name that stands twice, bytes that are not UTF-8, half a surrogate pair.
struct StrictJSON {
  /// How deep arrays and objects may lie in each other.
  static let depthMax = 64

  /// Where reading stopped, and why. The offset counts bytes from 0.
  struct Malformed: Error, Hashable, CustomStringConvertible {
    let offset: Int
    let reason: String
    var description: String { "\(reason) at byte \(offset)" }
  }

  /// A text that was read.
  struct Document {
    let value: JSONValue
    /// The bytes of each member's value, when the text is one object: as they came.
    let members: [String: Data]
  }

  private let bytes: [UInt8]
  private var place = 0
  private var depth = 0
  private var members: [String: Data] = [:]

  private init(_ data: Data) { bytes = Array(data) }

  static func read(_ data: Data) throws(Malformed) -> Document {
    guard String(validating: data, as: UTF8.self) != nil else {
      throw Malformed(offset: 0, reason: "not UTF-8")
    }
    var reader = StrictJSON(data)
    reader.skipBlanks()
    let value = try reader.value()
    reader.skipBlanks()
    guard reader.place == reader.bytes.count else { throw reader.malformed("more than one value") }
    return Document(value: value, members: reader.members)
  }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private func malformed(_ reason: String) -> Malformed {
    Malformed(offset: place, reason: place < bytes.count ? reason : "the text ends too early")
  }

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

  private mutating func take(word: StaticString, as value: JSONValue) throws(Malformed) -> JSONValue
  {
    let isThere = word.withUTF8Buffer { bytes[place...].starts(with: $0) }
    guard isThere else { throw malformed("no JSON value") }
    place += word.utf8CodeUnitCount
    return value
  }

  private mutating func value() throws(Malformed) -> JSONValue {
    switch next {
    case UInt8(ascii: "{"):
      return .object(try nested { reader throws(Malformed) in try reader.object() })
    case UInt8(ascii: "["):
      return .array(try nested { reader throws(Malformed) in try reader.array() })
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try take(word: "true", as: .bool(true))
    case UInt8(ascii: "f"): return try take(word: "false", as: .bool(false))
    case UInt8(ascii: "n"): return try take(word: "null", as: .null)
    default: return try number()
    }
  }

  private mutating func nested<Result>(
    _ read: (inout StrictJSON) throws(Malformed) -> Result
  ) throws(Malformed) -> Result {
    guard depth < Self.depthMax else {
      throw malformed("arrays and objects lie more than \(Self.depthMax) deep")
    }
    place += 1
    depth += 1
    defer { depth -= 1 }
    return try read(&self)
  }

  private mutating func object() throws(Malformed) -> [String: JSONValue] {
    var found: [String: JSONValue] = [:]
    skipBlanks()
    if take("}") { return found }
    while true {
      skipBlanks()
      let start = place
      let name = try string()
      guard found[name] == nil else {
        throw Malformed(offset: start, reason: "the name \"\(name.prefix(40))\" stands twice")
      }
      skipBlanks()
      guard take(":") else { throw malformed("no colon after a name") }
      skipBlanks()
      let valueStart = place
      found[name] = try value()
      if depth == 1 { members[name] = Data(bytes[valueStart..<place]) }
      skipBlanks()
      if take("}") { return found }
      guard take(",") else { throw malformed("no comma or closing brace after a member") }
    }
  }

  private mutating func array() throws(Malformed) -> [JSONValue] {
    var found: [JSONValue] = []
    skipBlanks()
    if take("]") { return found }
    while true {
      skipBlanks()
      found.append(try value())
      skipBlanks()
      if take("]") { return found }
      guard take(",") else { throw malformed("no comma or closing bracket after an element") }
    }
  }
}

// MARK: Numbers and strings

extension StrictJSON {
  private mutating func digits() throws(Malformed) {
    let start = place
    while let byte = next, (0x30...0x39).contains(byte) { place += 1 }
    guard place > start else { throw malformed("no JSON value") }
  }

  /// A whole number of 64 bits however it is spelled, as it is read back once it is stored.
  private mutating func number() throws(Malformed) -> JSONValue {
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
    guard let value = Double(text), value.isFinite else {
      throw Malformed(offset: start, reason: "a number is out of range")
    }
    return Int64(exactly: value).map { .integer($0) } ?? .number(value)
  }

  private mutating func string() throws(Malformed) -> String {
    guard take("\"") else { throw malformed("no string in double quotes") }
    var text: [UInt8] = []
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        place += 1
        return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        place += 1
        text.append(contentsOf: UTF8.encode(try escaped()) ?? UTF8.encodedReplacementCharacter)
      case 0..<0x20:
        throw malformed("a control character stands in a string")
      default:
        place += 1
        text.append(byte)
      }
    }
    throw malformed("a string does not end")
  }

  private mutating func escaped() throws(Malformed) -> Unicode.Scalar {
    guard let byte = next else { throw malformed("a string does not end") }
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try escapedByNumber()
    default: throw malformed("an unknown escape stands in a string")
    }
  }

  private mutating func escapedByNumber() throws(Malformed) -> Unicode.Scalar {
    let unit = try fourDigits()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    guard (0xD800...0xDBFF).contains(unit), take("\\"), take("u") else {
      throw malformed("half a surrogate pair stands in a string")
    }
    let second = try fourDigits()
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00))
    else { throw malformed("half a surrogate pair stands in a string") }
    return scalar
  }

  private mutating func fourDigits() throws(Malformed) -> UInt32 {
    guard place + 4 <= bytes.count else {
      place = bytes.count
      throw malformed("a string does not end")
    }
    let digits = bytes[place..<(place + 4)]
    // UInt32(_:radix:) would also take a sign.
    guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw malformed("\\u wants four hexadecimal digits") }
    place += 4
    return unit
  }
}

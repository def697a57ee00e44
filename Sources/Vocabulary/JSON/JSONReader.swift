import Foundation

/// Why a text is not JSON, or not JSON that is read here, and where. Quotes no value: texts hold
/// keys.
package struct JSONMalformed: Error, Hashable, Sendable, CustomStringConvertible {
  /// Of the byte at which it shows, from 0.
  package let offset: Int
  /// `no colon after a name`
  package let reason: String

  package init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }

  /// `no colon after a name at byte 5`
  package var description: String { "\(reason) at byte \(offset)" }
}

/// Reads one JSON text (RFC 8259), in UTF-8, into values: one walk over the bytes, which costs a
/// fraction of what Foundation's reader does.
struct JSONReader {
  /// What becomes of an object in which a name stands twice.
  enum NameRule {
    /// As most readers do it.
    case firstCounts
    case noneTwice
  }

  private let bytes: UnsafeBufferPointer<UInt8>
  private let nameRule: NameRule
  private var place = 0
  /// In how many arrays and objects the next value lies.
  private var depth = 0
  /// Where the values of the outermost object lie, if that is what the text is.
  private var outermost: [String: Range<Int>] = [:]

  static func read(_ text: Data) throws(JSONMalformed) -> JSONValue {
    try read(text, .firstCounts).value
  }

  /// Reads a text in which no name may stand twice in an object.
  ///
  /// - Returns: the value, and the bytes of each member's value when it is an object: as they came.
  static func readStrictly(_ text: Data) throws(JSONMalformed) -> (
    value: JSONValue, members: [String: Data]
  ) {
    let (value, members) = try read(text, .noneTwice)
    return (value, members.mapValues { Data(text.dropFirst($0.lowerBound).prefix($0.count)) })
  }

  private static func read(_ text: Data, _ nameRule: NameRule) throws(JSONMalformed) -> (
    value: JSONValue, members: [String: Range<Int>]
  ) {
    let result = text.withUnsafeBytes { bytes in
      Result { () throws(JSONMalformed) in
        var reader = JSONReader(bytes: bytes.bindMemory(to: UInt8.self), nameRule: nameRule)
        let value = try reader.value()
        reader.skipBlanks()
        guard reader.place == reader.bytes.count else {
          throw reader.malformed("more than one value")
        }
        return (value, reader.outermost)
      }
    }
    return try result.get()
  }

  private init(bytes: UnsafeBufferPointer<UInt8>, nameRule: NameRule) {
    self.bytes = bytes
    self.nameRule = nameRule
  }

  private func malformed(_ reason: String) -> JSONMalformed {
    JSONMalformed(offset: place, reason: place < bytes.count ? reason : "the text ends too early")
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

  private mutating func take(word: StaticString) throws(JSONMalformed) {
    let rest = UnsafeBufferPointer(rebasing: bytes[place...])
    guard word.withUTF8Buffer({ rest.starts(with: $0) }) else { throw malformed("no JSON value") }
    place += word.utf8CodeUnitCount
  }

  /// Blanks, and the value behind them.
  private mutating func value() throws(JSONMalformed) -> JSONValue {
    guard depth <= JSONValue.depthMax else {
      throw JSONMalformed(
        offset: place, reason: "nested deeper than \(JSONValue.depthMax) levels")
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

  private mutating func object() throws(JSONMalformed) -> [String: JSONValue] {
    place += 1
    depth += 1
    defer { depth -= 1 }
    skipBlanks()
    if take("}") { return [:] }
    // Counted before they are kept: a dictionary that grows hashes all it holds again.
    var found: [(name: String, at: Int, value: JSONValue)] = []
    repeat {
      skipBlanks()
      let start = place
      let name = try string()
      skipBlanks()
      guard take(":") else { throw malformed("no colon after a name") }
      skipBlanks()
      let valueStart = place
      found.append((name, start, try value()))
      if depth == 1, nameRule == .noneTwice { outermost[name] = valueStart..<place }
      skipBlanks()
    } while take(",")
    guard take("}") else { throw malformed("no comma or closing brace after a member") }
    var members = [String: JSONValue](minimumCapacity: found.count)
    // Backwards, so that the first of one name is what stays.
    for (name, _, value) in found.reversed() { members[name] = value }
    if nameRule == .noneTwice, members.count < found.count { throw Self.nameTwice(in: found) }
    return members
  }

  private static func nameTwice(
    in found: [(name: String, at: Int, value: JSONValue)]
  ) -> JSONMalformed {
    var names: Set<String> = []
    for (name, start, _) in found where !names.insert(name).inserted {
      return JSONMalformed(offset: start, reason: "the name \"\(name.prefix(40))\" stands twice")
    }
    preconditionFailure("fewer names than members, and none twice")
  }

  private mutating func array() throws(JSONMalformed) -> [JSONValue] {
    place += 1
    depth += 1
    defer { depth -= 1 }
    skipBlanks()
    if take("]") { return [] }
    var found: [JSONValue] = []
    repeat {
      found.append(try value())
      skipBlanks()
    } while take(",")
    guard take("]") else { throw malformed("no comma or closing bracket after an element") }
    return found
  }
}

// MARK: Numbers and strings

extension JSONReader {
  private mutating func digits() throws(JSONMalformed) {
    let start = place
    while let byte = next, (0x30...0x39).contains(byte) { place += 1 }
    guard place > start else { throw malformed("no JSON value") }
  }

  /// A whole number of 64 bits however it is spelled, else the nearest fraction.
  private mutating func number() throws(JSONMalformed) -> JSONValue {
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
      throw JSONMalformed(offset: start, reason: "a number is out of range")
    }
    return Int64(exactly: value).map { .integer($0) } ?? .number(value)
  }

  private mutating func string() throws(JSONMalformed) -> String {
    guard take("\"") else { throw malformed("no string in double quotes") }
    let start = place
    var all: UInt8 = 0
    while let byte = next, byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\") { return try escapedString(from: start) }
      guard byte >= 0x20 else { throw malformed("a control character stands in a string") }
      all |= byte
      place += 1
    }
    let found = UnsafeBufferPointer(rebasing: bytes[start..<place])
    guard take("\"") else { throw malformed("a string does not end") }
    // ASCII need not be proven to be UTF-8, which costs more than all the rest.
    if all < 0x80 { return String(decoding: found, as: UTF8.self) }
    return try validated(found, from: start)
  }

  private func validated(
    _ bytes: some Sequence<UInt8>, from start: Int
  ) throws(JSONMalformed) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw JSONMalformed(offset: start, reason: "a string is not UTF-8")
    }
    return text
  }

  /// The rest of a string that was read from `start` up to its first backslash.
  private mutating func escapedString(from start: Int) throws(JSONMalformed) -> String {
    var text = Array(bytes[start..<place])
    while let byte = next, byte != UInt8(ascii: "\"") {
      guard byte >= 0x20 else { throw malformed("a control character stands in a string") }
      place += 1
      if byte == UInt8(ascii: "\\") {
        text.append(contentsOf: String(Character(try escaped())).utf8)
      } else {
        text.append(byte)
      }
    }
    guard take("\"") else { throw malformed("a string does not end") }
    return try validated(text, from: start)
  }

  private mutating func escaped() throws(JSONMalformed) -> Unicode.Scalar {
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

  private mutating func escapedByNumber() throws(JSONMalformed) -> Unicode.Scalar {
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

  private mutating func fourDigits() throws(JSONMalformed) -> UInt32 {
    var unit: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw malformed("\\u wants four hexadecimal digits")
      }
      unit = unit << 4 | UInt32(digit)
      place += 1
    }
    return unit
  }
}

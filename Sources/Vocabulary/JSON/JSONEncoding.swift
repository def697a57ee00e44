import Foundation

/// Writes a type of ours as JSON text by its `Encodable`: compact, slashes as they are, keys sorted
/// by their bytes.
///
/// One of these writes one value into the text that all share. Members go in as they come, and
/// ``finish()`` sorts them where they did not come sorted.
final class JSONEncoding: Encoder {
  /// The text, shared by the writers of its values.
  final class Text {
    // Not checked at run time, as all of what is written in passes here: nobody holds on to it.
    @exclusivity(unchecked) var bytes: [UInt8] = []
  }

  private enum Shape { case open, single, array, object }

  let text: Text
  let codingPath: [any CodingKey] = []
  var userInfo: [CodingUserInfoKey: Any] { [:] }
  private let start: Int
  @exclusivity(unchecked) private var shape = Shape.open
  @exclusivity(unchecked) fileprivate private(set) var count = 0
  /// Of an object: each name, and where `"name":value` begins and ends in the text.
  @exclusivity(unchecked) private var members: [(name: String, place: Range<Int>)] = []
  @exclusivity(unchecked) private var isSorted = true
  /// What was begun within this one and says nowhere when it is done: it has a text of its own, and
  /// goes in at the end. Of an object: its member's name. Of an array: its place in the text.
  private var nested: [(name: String, place: Int, value: JSONEncoding)] = []

  init(_ text: Text) {
    self.text = text
    start = text.bytes.count
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    open(.object, UInt8(ascii: "{"))
    return KeyedEncodingContainer(JSONObjectEncoding(encoding: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    open(.array, UInt8(ascii: "["))
    return JSONArrayEncoding(encoding: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    precondition(shape == .open, "a value is written once")
    shape = .single
    return self
  }

  /// A type may ask for the same container twice, as a subclass does.
  private func open(_ wanted: Shape, _ bracket: UInt8) {
    guard shape == .open else {
      return precondition(shape == wanted, "a value is one thing: an object, an array, or itself")
    }
    shape = wanted
    text.bytes.append(bracket)
  }

  /// After the value has written itself: closes it. Who wrote nothing is an empty object.
  func finish() {
    if !nested.isEmpty { finishNested() }
    switch shape {
    case .single: return
    case .array: return text.bytes.append(UInt8(ascii: "]"))
    case .open: text.bytes.append(UInt8(ascii: "{"))
    case .object where isSorted: break
    case .object: sort()
    }
    text.bytes.append(UInt8(ascii: "}"))
  }

  private func finishNested() {
    let inner = nested
    nested = []
    for (name, place, value) in shape == .object ? inner : inner.reversed() {
      value.finish()
      if shape == .object {
        member(name) { $0.text.bytes += value.text.bytes }
      } else {
        text.bytes.insert(contentsOf: value.text.bytes, at: place)
      }
    }
  }

  /// A member that is written bit by bit; asked for twice it is the same one.
  fileprivate func nestedMember(_ name: String) -> JSONEncoding {
    if let known = nested.first(where: { $0.name == name }) { return known.value }
    let value = JSONEncoding(Text())
    nested.append((name, 0, value))
    return value
  }

  /// An element that is written bit by bit.
  fileprivate func nestedElement() -> JSONEncoding {
    let value = JSONEncoding(Text())
    element { nested.append(("", $0.text.bytes.count, value)) }
    return value
  }

  /// Of two members of one name the later counts: a type may write another's members and then its
  /// own in the place of some.
  private func sort() {
    members.sort {
      $0.name == $1.name ? $0.place.lowerBound < $1.place.lowerBound : $0.name.isBefore($1.name)
    }
    var sorted: [UInt8] = []
    sorted.reserveCapacity(text.bytes.count - start)
    for (index, member) in members.enumerated() {
      if index + 1 < members.count, members[index + 1].name == member.name { continue }
      if !sorted.isEmpty { sorted.append(UInt8(ascii: ",")) }
      sorted += text.bytes[member.place]
    }
    text.bytes.replaceSubrange((start + 1)..., with: sorted)
  }

  /// Writes one member of an object; `value` writes its value.
  @inline(__always)
  fileprivate func member(_ name: String, _ value: (JSONEncoding) throws -> Void) rethrows {
    if let last = members.last {
      text.bytes.append(UInt8(ascii: ","))
      isSorted = isSorted && last.name.isBefore(name)
    }
    let begin = text.bytes.count
    write(text: name)
    text.bytes.append(UInt8(ascii: ":"))
    try value(self)
    members.append((name, begin..<text.bytes.count))
  }

  /// Writes one element of an array; `value` writes its value.
  @inline(__always)
  fileprivate func element(_ value: (JSONEncoding) throws -> Void) rethrows {
    if count > 0 { text.bytes.append(UInt8(ascii: ",")) }
    count += 1
    try value(self)
  }
}

// MARK: Values

extension JSONEncoding: SingleValueEncodingContainer {
  func encodeNil() { text.bytes.append(contentsOf: "null".utf8) }

  /// Types that JSON has itself are written as they are; all others write themselves. Inlined, so
  /// that of the list nothing is left where the type is known.
  @inline(__always)
  func encode<Value: Encodable>(_ value: Value) throws {
    func own<Own>(_ type: Own.Type) -> Own { unsafeBitCast(value, to: type) }
    if Value.self == String.self { return write(text: own(String.self)) }
    if Value.self == Bool.self { return write(flag: own(Bool.self)) }
    if Value.self == Int.self { return write(number: own(Int.self)) }
    if Value.self == Double.self { return try write(fraction: own(Double.self), of: value) }
    if Value.self == JSONValue.self { return try write(own(JSONValue.self)) }
    if Value.self == Int64.self { return write(number: own(Int64.self)) }
    if Value.self == Int32.self { return write(number: own(Int32.self)) }
    if Value.self == Int16.self { return write(number: own(Int16.self)) }
    if Value.self == Int8.self { return write(number: own(Int8.self)) }
    if Value.self == UInt.self { return write(number: own(UInt.self)) }
    if Value.self == UInt64.self { return write(number: own(UInt64.self)) }
    if Value.self == UInt32.self { return write(number: own(UInt32.self)) }
    if Value.self == UInt16.self { return write(number: own(UInt16.self)) }
    if Value.self == UInt8.self { return write(number: own(UInt8.self)) }
    if Value.self == Float.self { return try write(fraction: own(Float.self), of: value) }
    let encoding = JSONEncoding(text)
    try value.encode(to: encoding)
    encoding.finish()
  }

  func write(_ value: JSONValue) throws {
    switch value {
    case .null: encodeNil()
    case .bool(let flag): write(flag: flag)
    case .integer(let number): write(number: number)
    case .number(let number): try write(fraction: number, of: number)
    case .string(let text): write(text: text)
    case .array(let elements):
      text.bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { text.bytes.append(UInt8(ascii: ",")) }
        try write(element)
      }
      text.bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      text.bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.sorted(by: { $0.key.isBefore($1.key) }).enumerated() {
        if index > 0 { text.bytes.append(UInt8(ascii: ",")) }
        write(text: member.key)
        text.bytes.append(UInt8(ascii: ":"))
        try write(member.value)
      }
      text.bytes.append(UInt8(ascii: "}"))
    }
  }

  private func write(flag: Bool) {
    text.bytes.append(contentsOf: (flag ? "true" : "false").utf8)
  }

  private func write(number: some FixedWidthInteger) {
    text.bytes.append(contentsOf: String(number).utf8)
  }

  /// A fraction that is whole is written as a whole number.
  private func write(
    fraction: some BinaryFloatingPoint & CustomStringConvertible, of value: some Encodable
  ) throws {
    guard fraction.isFinite else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "JSON has no \(fraction)"))
    }
    var digits = fraction.description
    if digits.hasSuffix(".0") { digits.removeLast(2) }
    text.bytes.append(contentsOf: digits.utf8)
  }

  private func write(text value: String) {
    var value = value
    value.withUTF8 { source in
      text.bytes.append(UInt8(ascii: "\""))
      var written = 0
      for place in source.indices {
        guard let escape = Self.escape(of: source[place]) else { continue }
        text.bytes.append(contentsOf: source[written..<place])
        text.bytes.append(contentsOf: escape.utf8)
        written = place + 1
      }
      text.bytes.append(contentsOf: source[written...])
      text.bytes.append(UInt8(ascii: "\""))
    }
  }

  /// Nil for what stands as it is.
  @inline(__always)
  private static func escape(of byte: UInt8) -> String? {
    guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
      return nil
    }
    switch byte {
    case UInt8(ascii: "\""): return "\\\""
    case UInt8(ascii: "\\"): return "\\\\"
    case 0x08: return "\\b"
    case 0x0C: return "\\f"
    case UInt8(ascii: "\n"): return "\\n"
    case UInt8(ascii: "\r"): return "\\r"
    case UInt8(ascii: "\t"): return "\\t"
    default: return "\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16)
    }
  }
}

// MARK: Objects and arrays

private struct JSONObjectEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoding: JSONEncoding
  var codingPath: [any CodingKey] { [] }

  func encodeNil(forKey key: Key) { encoding.member(key.stringValue) { $0.encodeNil() } }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encoding.member(key.stringValue) { try $0.encode(value) }
  }

  func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key)
    -> KeyedEncodingContainer<Inner>
  {
    encoding.nestedMember(key.stringValue).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    encoding.nestedMember(key.stringValue).unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoding.nestedMember("super") }
  func superEncoder(forKey key: Key) -> any Encoder { encoding.nestedMember(key.stringValue) }
}

private struct JSONArrayEncoding: UnkeyedEncodingContainer {
  let encoding: JSONEncoding
  var codingPath: [any CodingKey] { [] }
  var count: Int { encoding.count }

  func encodeNil() { encoding.element { $0.encodeNil() } }

  func encode<Value: Encodable>(_ value: Value) throws {
    try encoding.element { try $0.encode(value) }
  }

  func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) -> KeyedEncodingContainer<Inner>
  {
    encoding.nestedElement().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    encoding.nestedElement().unkeyedContainer()
  }

  func superEncoder() -> any Encoder { encoding.nestedElement() }
}

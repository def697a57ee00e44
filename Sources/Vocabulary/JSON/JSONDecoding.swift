/// Makes a type of ours out of JSON that is read already, by its `Decodable`.
struct JSONDecoding: Decoder {
  let value: JSONValue
  let path: JSONPath

  var codingPath: [any CodingKey] { path.keys }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .object(let members) = value else { throw mismatch([String: Any].self) }
    return KeyedDecodingContainer(JSONMembers(members: members, path: path))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let elements) = value else { throw mismatch([Any].self) }
    return JSONElements(elements: elements, path: path)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  private func mismatch(_ wanted: any Any.Type) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: path.keys, debugDescription: "found \(value.typeName) instead")
    return value == .null ? .valueNotFound(wanted, context) : .typeMismatch(wanted, context)
  }

  private func whole<Number: FixedWidthInteger>(_ type: Number.Type) throws -> Number {
    let number: Number?
    switch value {
    case .integer(let value): number = Number(exactly: value)
    case .number(let value): number = Number(exactly: value)
    default: throw mismatch(type)
    }
    if let number { return number }
    throw DecodingError.dataCorrupted(
      .init(
        codingPath: path.keys, debugDescription: "want a whole number of \(Number.bitWidth) bits"))
  }

  private func fraction() throws -> Double {
    switch value {
    case .integer(let value): return Double(value)
    case .number(let value): return value
    default: throw mismatch(Double.self)
    }
  }

  private func text() throws -> String {
    guard case .string(let text) = value else { throw mismatch(String.self) }
    return text
  }

  private func flag() throws -> Bool {
    guard case .bool(let flag) = value else { throw mismatch(Bool.self) }
    return flag
  }
}

extension JSONDecoding: SingleValueDecodingContainer {
  func decodeNil() -> Bool { value == .null }

  /// Types that JSON has itself are taken as they are; all others read themselves. Inlined, so that
  /// of the list nothing is left where the type is known.
  @inline(__always)
  func decode<Wanted: Decodable>(_ type: Wanted.Type) throws -> Wanted {
    func taken<Own>(_ own: Own) -> Wanted { unsafeBitCast(own, to: Wanted.self) }
    if type == String.self { return taken(try text()) }
    if type == Bool.self { return taken(try flag()) }
    if type == Int.self { return taken(try whole(Int.self)) }
    if type == Double.self { return taken(try fraction()) }
    if type == JSONValue.self { return taken(value) }
    if type == Int64.self { return taken(try whole(Int64.self)) }
    if type == Int32.self { return taken(try whole(Int32.self)) }
    if type == Int16.self { return taken(try whole(Int16.self)) }
    if type == Int8.self { return taken(try whole(Int8.self)) }
    if type == UInt.self { return taken(try whole(UInt.self)) }
    if type == UInt64.self { return taken(try whole(UInt64.self)) }
    if type == UInt32.self { return taken(try whole(UInt32.self)) }
    if type == UInt16.self { return taken(try whole(UInt16.self)) }
    if type == UInt8.self { return taken(try whole(UInt8.self)) }
    if type == Float.self { return taken(Float(try fraction())) }
    return try Wanted(from: self)
  }
}

/// Where a value lies in its document. Written out only for an error.
indirect enum JSONPath {
  case document
  case member(any CodingKey, of: JSONPath)

  var keys: [any CodingKey] {
    switch self {
    case .document: []
    case .member(let key, let outer): outer.keys + [key]
    }
  }
}

private struct JSONMembers<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: [String: JSONValue]
  let path: JSONPath

  var codingPath: [any CodingKey] { path.keys }
  var allKeys: [Key] { members.keys.compactMap { Key(stringValue: $0) } }

  func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

  func decodeNil(forKey key: Key) throws -> Bool { try reading(key).value == .null }

  func decode<Wanted: Decodable>(_ type: Wanted.Type, forKey key: Key) throws -> Wanted {
    try reading(key).decode(type)
  }

  func decodeIfPresent<Wanted: Decodable>(_ type: Wanted.Type, forKey key: Key) throws -> Wanted? {
    guard let value = members[key.stringValue] else { return nil }
    if case .null = value { return nil }
    return try JSONDecoding(value: value, path: .member(key, of: path)).decode(type)
  }

  func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type, forKey key: Key) throws
    -> KeyedDecodingContainer<Inner>
  {
    try reading(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try reading(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    JSONDecoding(
      value: members["super"] ?? .null, path: .member(JSONKey("super"), of: path))
  }

  func superDecoder(forKey key: Key) throws -> any Decoder { try reading(key) }

  private func reading(_ key: Key) throws -> JSONDecoding {
    guard let value = members[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key, .init(codingPath: path.keys, debugDescription: "no such member"))
    }
    return JSONDecoding(value: value, path: .member(key, of: path))
  }
}

private struct JSONElements: UnkeyedDecodingContainer {
  let elements: [JSONValue]
  let path: JSONPath
  private(set) var currentIndex = 0

  var codingPath: [any CodingKey] { path.keys }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex == elements.count }

  mutating func decodeNil() throws -> Bool {
    guard try reading().value == .null else { return false }
    currentIndex += 1
    return true
  }

  mutating func decode<Wanted: Decodable>(_ type: Wanted.Type) throws -> Wanted {
    let wanted = try reading().decode(type)
    currentIndex += 1
    return wanted
  }

  mutating func nestedContainer<Inner: CodingKey>(keyedBy type: Inner.Type) throws
    -> KeyedDecodingContainer<Inner>
  {
    let inner = try reading().container(keyedBy: type)
    currentIndex += 1
    return inner
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let inner = try reading().unkeyedContainer()
    currentIndex += 1
    return inner
  }

  mutating func superDecoder() throws -> any Decoder {
    let inner = try reading()
    currentIndex += 1
    return inner
  }

  private func reading() throws -> JSONDecoding {
    let here = JSONPath.member(JSONKey(currentIndex), of: path)
    guard !isAtEnd else {
      throw DecodingError.valueNotFound(
        Any.self, .init(codingPath: here.keys, debugDescription: "no more elements"))
    }
    return JSONDecoding(value: elements[currentIndex], path: here)
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

import Foundation

/// Any JSON, kept as it came: for what we store or pass on without knowing its shape.
///
/// Numbers keep their value, not their spelling (`1.0` is written `1`), and whole numbers beyond 64
/// bits lose their last digits, as in JavaScript.
package enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// What a person calls the type of this value; used in error messages.
  package var typeName: String {
    switch self {
    case .null: "null"
    case .bool: "a boolean"
    case .integer, .number: "a number"
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }
}

extension JSONValue: Codable {
  /// How deep a value may lie in its document, in levels. Each look at a value costs time with its
  /// depth, and the text comes from outside.
  package static let depthMax = 64

  package init(from decoder: any Decoder) throws {
    guard decoder.codingPath.count <= Self.depthMax else {
      throw DecodingError.dataCorrupted(
        .init(
          codingPath: Array(decoder.codingPath.prefix(1)),
          debugDescription: "nested deeper than \(Self.depthMax) levels"))
    }
    let container = try decoder.singleValueContainer()
    // A failed attempt only says that the value is of another type; the last one's error stands.
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if var elements = try? decoder.unkeyedContainer() {
      var values: [JSONValue] = []
      while !elements.isAtEnd { values.append(try elements.decode(JSONValue.self)) }
      self = .array(values)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let value): try container.encode(value)
    case .integer(let value): try container.encode(value)
    case .number(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .array(let value): try container.encode(value)
    case .object(let value): try container.encode(value)
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(nilLiteral: ()) { self = .null }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements) { _, last in last })
  }
}

extension JSONValue {
  /// Reads JSON text.
  ///
  /// - Throws: ``JSONMalformed``.
  package init(parsing data: Data) throws(JSONMalformed) {
    self = try JSONReader.read(data)
  }

  /// Reads JSON text, and refuses an object in which a name stands twice: one of the two would be
  /// dropped without a word.
  ///
  /// - Returns: the value, and the bytes of each member's value when it is an object: as they came.
  /// - Throws: ``JSONMalformed``.
  package static func parsingStrictly(_ data: Data) throws(JSONMalformed) -> (
    value: JSONValue, members: [String: Data]
  ) {
    try JSONReader.readStrictly(data)
  }

  /// Compact JSON text, keys sorted, slashes not escaped.
  package var encoded: Data { JSON.encoded(self) }
}

/// How Lockstep writes JSON everywhere: keys sorted (so that equal values are equal bytes) and
/// slashes as they are (each escape would cost a byte of the 4096 that APNs allows).
package enum JSON {
  /// Compact JSON text. Numbers in `value` must be finite: JSON has no others.
  package static func encoded(_ value: some Encodable) -> Data {
    let text = JSONEncoding.Text()
    do {
      try JSONEncoding(text).encode(value)
    } catch {
      preconditionFailure("a value of ours did not encode as JSON: \(error)")
    }
    return Data(text.bytes)
  }

  /// Reads JSON text.
  ///
  /// - Throws: `DecodingError`; ``DecodingProblem`` puts it in words.
  package static func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
  {
    let value: JSONValue
    do throws(JSONMalformed) {
      value = try JSONReader.read(data)
    } catch {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [], debugDescription: "\(error)", underlyingError: error))
    }
    return try decode(type, from: value)
  }

  /// Makes a `Value` of JSON that is read already.
  ///
  /// - Throws: `DecodingError`, as if it were read of its text.
  package static func decode<Value: Decodable>(_ type: Value.Type, from value: JSONValue) throws
    -> Value
  {
    try JSONDecoding(value: value, path: .document).decode(type)
  }
}

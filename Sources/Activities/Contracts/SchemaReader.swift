import Vocabulary

/// Reads the part of JSON Schema that a Swift struct can mean, and refuses the rest by name: a
/// keyword that is passed over would be a promise that nobody keeps.
struct SchemaReader {
  /// How deep objects may lie in each other.
  static let depthMax = 8

  private(set) var problems: [ContractProblem] = []

  mutating func refuse(_ pointer: String, _ detail: String) {
    problems.append(ContractProblem(pointer: pointer, detail: detail))
  }

  static func text(_ value: JSONValue?) -> String? {
    if case .string(let text)? = value { text } else { nil }
  }

  /// The members of an object, none other than `known`; those that begin with `x-` are the
  /// author's.
  mutating func members(of value: JSONValue, at pointer: String, known: Set<String>)
    -> [String: JSONValue]
  {
    guard case .object(let members) = value else {
      refuse(pointer, value == .null ? "is missing, want an object" : "is no object")
      return [:]
    }
    for name in members.keys.sorted() where !known.contains(name) && !name.hasPrefix("x-") {
      refuse(
        "\(pointer)/\(name)", "is not known here, want \(known.sorted().joined(separator: ", "))")
    }
    return members
  }

  /// A name that Swift can spell.
  mutating func identifier(_ value: JSONValue?, at pointer: String) -> String {
    guard let name = Self.text(value) else {
      refuse(pointer, "is missing, want the name of the Swift type")
      return ""
    }
    if !SwiftName.isName(name) {
      refuse(pointer, "is \"\(name.prefix(60))\", want a name that Swift can spell")
    }
    return name
  }

  mutating func shape(_ value: JSONValue, at pointer: String, depth: Int = 0) -> Shape {
    let members = members(
      of: value, at: pointer,
      known: ["type", "description", "properties", "required", "additionalProperties"])
    guard !members.isEmpty else { return Shape([]) }
    guard depth < Self.depthMax else {
      refuse(pointer, "lies deeper than \(Self.depthMax) objects")
      return Shape([])
    }
    if let open = members["additionalProperties"], open != false {
      refuse(
        "\(pointer)/additionalProperties",
        "lets unknown keys through, which ActivityKit ignores without a word; want false or none")
    }
    if members["type"] != "object" { refuse("\(pointer)/type", "want \"object\"") }
    guard case .object(let properties)? = members["properties"] else {
      refuse("\(pointer)/properties", "is missing, want an object")
      return Shape([])
    }
    let required = names(members["required"], among: properties, at: "\(pointer)/required")
    return Shape(
      properties.sorted {
        // What must be there is read first.
        (required.contains($0.key) ? 0 : 1, $0.key) < (required.contains($1.key) ? 0 : 1, $1.key)
      }.map { name, schema in
        let place = "\(pointer)/properties/\(name)"
        if !SwiftName.isName(name) { refuse(place, "is no name that Swift can spell") }
        return Shape.Field(
          name, type(schema, at: place, depth: depth + 1), isRequired: required.contains(name),
          about: Self.text(schema["description"]))
      })
  }

  private mutating func names(
    _ value: JSONValue?, among properties: [String: JSONValue], at pointer: String
  ) -> Set<String> {
    guard let value else { return [] }
    guard case .array(let elements) = value else {
      refuse(pointer, "is \(value.typeName), want an array of names")
      return []
    }
    var found: Set<String> = []
    for element in elements {
      guard let name = Self.text(element), properties[name] != nil else {
        refuse(
          pointer, "names \(String(decoding: element.encoded, as: UTF8.self)), which is no field")
        continue
      }
      found.insert(name)
    }
    return found
  }

  private mutating func type(_ schema: JSONValue, at pointer: String, depth: Int) -> FieldType {
    let known: Set<String> = [
      "type", "description", "maxLength", "minimum", "maximum", "format", "items", "properties",
      "required", "additionalProperties",
    ]
    let members = members(of: schema, at: pointer, known: known)
    switch Self.text(members["type"]) {
    case "string": return text(members, at: pointer)
    case "integer": return whole(members, at: pointer)
    case "number": return number(members, at: pointer)
    case "boolean": return .flag
    case "array":
      return .list(type(members["items"] ?? .null, at: "\(pointer)/items", depth: depth))
    case "object":
      if case .object? = members["additionalProperties"], members["properties"] == nil {
        let values = members["additionalProperties"] ?? .null
        return .map(type(values, at: "\(pointer)/additionalProperties", depth: depth))
      }
      return .object(shape(schema, at: pointer, depth: depth))
    case let given:
      refuse(
        "\(pointer)/type",
        "is \(given.map { "\"\($0)\"" } ?? "missing"), want one of string, integer, number,"
          + " boolean, array, object")
      return .flag
    }
  }

  private mutating func text(_ members: [String: JSONValue], at pointer: String) -> FieldType {
    if let format = members["format"] {
      if format == .string(DateForm.text.rawValue) { return .date(.text) }
      refuse("\(pointer)/format", "want date-time for a string, or no format")
    }
    guard let max = members["maxLength"] else { return .text() }
    guard case .integer(let length) = max, (1...Int64(FieldType.textMax)).contains(length) else {
      refuse("\(pointer)/maxLength", "want a whole number from 1 to \(FieldType.textMax)")
      return .text()
    }
    return .text(max: Int(length))
  }

  private mutating func whole(_ members: [String: JSONValue], at pointer: String) -> FieldType {
    switch members["format"] {
    case nil: return .whole
    case .string(DateForm.unix.rawValue): return .date(.unix)
    default:
      refuse("\(pointer)/format", "want \(DateForm.unix.rawValue) for an integer, or no format")
      return .whole
    }
  }

  private mutating func number(_ members: [String: JSONValue], at pointer: String) -> FieldType {
    switch members["format"] {
    case nil: break
    case .string(DateForm.apple.rawValue): return .date(.apple)
    default:
      refuse("\(pointer)/format", "want \(DateForm.apple.rawValue) for a number, or no format")
    }
    let (low, high) = (Self.double(members["minimum"]), Self.double(members["maximum"]))
    if low == nil, high == nil { return .number() }
    let range = (low ?? -.greatestFiniteMagnitude, high ?? .greatestFiniteMagnitude)
    guard range.0 <= range.1 else {
      refuse("\(pointer)/minimum", "is above maximum")
      return .number()
    }
    return .number(range.0...range.1)
  }

  private static func double(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let whole): Double(whole)
    case .number(let number): number
    default: nil
    }
  }
}

/// What can stand as a name in Swift source and as a key in JSON alike.
enum SwiftName {
  private static let reserved: Set<String> = [
    "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer",
    "deinit", "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for",
    "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil",
    "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return",
    "self", "Self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
    "try", "typealias", "var", "where", "while",
  ]

  static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, text.utf8.count <= 100, !reserved.contains(text) else {
      return false
    }
    let isLetter = { (byte: UInt8) in
      (65...90).contains(byte) || (97...122).contains(byte) || byte == 95
    }
    return isLetter(first) && text.utf8.allSatisfy { isLetter($0) || (48...57).contains($0) }
  }
}

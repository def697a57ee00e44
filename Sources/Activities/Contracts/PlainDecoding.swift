import Vocabulary

/// What the synthesized `Codable` of a struct of this shape does, for types that are not compiled
/// in here: it forgives an unknown key, and nothing else. A test holds it against the compiled
/// struct.
extension Shape {
  /// - Throws: ``Undecodable`` naming the first field that stops the decoder.
  package func decoded(_ value: JSONValue) throws(Undecodable) -> JSONValue {
    try decoded(value, at: "")
  }

  private func decoded(_ value: JSONValue, at path: String) throws(Undecodable) -> JSONValue {
    guard case .object(let members) = value else {
      throw Undecodable(description: "\(path.isEmpty ? "it" : path) is \(value.typeName)")
    }
    var found: [String: JSONValue] = [:]
    for field in fields {
      let place = path.isEmpty ? field.name : "\(path).\(field.name)"
      guard let member = members[field.name], member != .null else {
        if field.isRequired { throw Undecodable(description: "\(place) is missing") }
        continue
      }
      found[field.name] = try Self.decoded(member, field.type, at: place)
    }
    return .object(found)
  }

  private static func decoded(
    _ value: JSONValue, _ type: FieldType, at place: String
  ) throws(Undecodable) -> JSONValue {
    switch (type, value) {
    case (.text, .string), (.date(.text), .string), (.flag, .bool): return value
    case (.whole, .integer), (.date(.unix), .integer): return value
    case (.number, .integer), (.number, .number): return value
    case (.date(.apple), .integer), (.date(.apple), .number): return value
    case (.list(let element), .array(let elements)):
      var found: [JSONValue] = []
      for (index, member) in elements.enumerated() {
        found.append(try decoded(member, element, at: "\(place)[\(index)]"))
      }
      return .array(found)
    case (.map(let element), .object(let members)):
      var found: [String: JSONValue] = [:]
      for (name, member) in members {
        found[name] = try decoded(member, element, at: "\(place).\(name)")
      }
      return .object(found)
    case (.object(let shape), .object): return try shape.decoded(value, at: place)
    default: throw Undecodable(description: "\(place) is \(value.typeName), want \(type.name)")
    }
  }
}

/// Why a phone's decoder makes nothing of a value.
package struct Undecodable: Error, Hashable, CustomStringConvertible {
  package let description: String
}

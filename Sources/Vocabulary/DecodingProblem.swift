/// What is wrong with JSON that did not decode, for the one who wrote it.
package struct DecodingProblem: Error, Hashable, Sendable, CustomStringConvertible {
  /// The field, `data.session.participants[0].ready`. Empty for the whole document.
  package let path: String
  /// The field as a JSON pointer (RFC 6901), `/data/session/participants/0/ready`.
  package let pointer: String
  /// What is wrong with the field, `is missing` or `is a string, want a number`.
  package let complaint: String

  /// `data.session.rev is missing`.
  package var description: String { "\(path.isEmpty ? "the document" : path) \(complaint)" }

  package init(_ error: DecodingError) {
    let (keys, complaint) = Self.explain(error)
    self.complaint = complaint
    path = keys.reduce(into: "") { path, key in
      if let index = key.intValue {
        path += "[\(index)]"
      } else {
        path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    pointer = keys.map { "/" + ($0.intValue.map(String.init) ?? escaped($0.stringValue)) }.joined()
  }

  private static func explain(_ error: DecodingError) -> (keys: [any CodingKey], String) {
    switch error {
    case .keyNotFound(let key, let context):
      return (context.codingPath + [key], "is missing")
    case .valueNotFound(let type, let context):
      return (context.codingPath, "is null, want \(name(of: type))")
    case .typeMismatch(let type, let context):
      let found = context.debugDescription.found.map { "is \($0), want" } ?? "is not"
      return (context.codingPath, "\(found) \(name(of: type))")
    case .dataCorrupted(let context) where context.underlyingError is JSONMalformed:
      return ([], "is not JSON: \(context.debugDescription)")
    case .dataCorrupted(let context) where context.codingPath.isEmpty:
      // Foundation says no more of a number that the type cannot hold.
      return ([], "is not JSON, or a number in it does not fit")
    case .dataCorrupted(let context):
      return (context.codingPath, "is wrong: \(context.debugDescription)")
    @unknown default:
      return ([], "does not decode: \(error)")
    }
  }

  private static func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "a boolean"
    case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type: "a number"
    case is any JSONArrayShaped.Type: "an array"
    default: "an object"
    }
  }
}

private protocol JSONArrayShaped {}
extension Array: JSONArrayShaped {}

private func escaped(_ key: String) -> String {
  key.split(separator: "~", omittingEmptySubsequences: false).joined(separator: "~0")
    .split(separator: "/", omittingEmptySubsequences: false).joined(separator: "~1")
}

extension String {
  /// `a string` out of Foundation's "Expected to decode Int but found a string instead.", the only
  /// place where it says what stood there. Nil when it says it another way.
  fileprivate var found: String? {
    guard let start = firstRange(of: "found ")?.upperBound,
      let end = self[start...].firstRange(of: " instead")?.lowerBound
    else { return nil }
    switch self[start..<end] {
    case "number": return "a number"
    case "bool": return "a boolean"
    case "a dictionary": return "an object"
    case let words: return String(words)
    }
  }
}

extension KeyedDecodingContainer {
  /// Reads a whole number. Foundation reports one with a fraction, or beyond 64 bits, as "not JSON"
  /// without saying where it stands.
  ///
  /// - Throws: `DecodingError` with the field's path.
  package func decodeWhole(forKey key: Key) throws -> Int {
    do {
      return try decode(Int.self, forKey: key)
    } catch let error as DecodingError {
      throw error
    } catch {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "want a whole number of 64 bits")
    }
  }

  /// Reads a rev: from 1 up to the largest whole number that every reader of JSON keeps, so that
  /// what is reckoned with it stays within its type.
  ///
  /// - Throws: `DecodingError` with the field's path.
  package func decodeRev(forKey key: Key) throws -> Int {
    let rev = try decodeWhole(forKey: key)
    guard (1...(1 << 53)).contains(rev) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "\(rev), want 1 to \(1 << 53)")
    }
    return rev
  }

  /// Reads an array of a bounded length.
  ///
  /// - Throws: `DecodingError` with the field's path.
  package func decodeList<Element: Decodable>(
    of type: Element.Type, forKey key: Key, countMax: Int
  ) throws -> [Element] {
    let list = try decode([Element].self, forKey: key)
    guard list.count <= countMax else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "\(list.count) elements, want at most \(countMax)")
    }
    return list
  }
}

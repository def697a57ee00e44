import Foundation
import Vocabulary

/// Takes the fields of one JSON object one by one and notes everything that is wrong with them;
/// ``finish()`` then refuses them all at once. A field that was never asked for is unknown, and
/// refused by name: a typo must not be silently dropped.
///
/// What a reading function returns after a problem is only a stand-in: use it after `finish()`.
struct BodyReader {
  /// The longest text taken where nothing else is said, in Unicode scalars.
  static let textMax = 200

  private let members: [String: JSONValue]
  private let raw: [String: Data]
  /// JSON pointer of this object, empty for the whole body.
  private let pointer: String
  private var asked: Set<String> = []
  private(set) var problems: [Problem.Field] = []

  mutating func note(_ problem: Problem.Field) { problems.append(problem) }

  /// `raw` holds the bytes of each member, for ``objectText(_:bytesMax:)``; `pointer` says where in
  /// the body this object stands.
  init(_ members: [String: JSONValue], raw: [String: Data] = [:], at pointer: String = "") {
    self.members = members
    self.raw = raw
    self.pointer = pointer
  }

  /// The body of a request.
  ///
  /// - Throws: 400 when it is missing, no JSON or no object; 415 when the request names another
  ///   content type.
  init(body text: Data, contentType: String?) throws(Problem) {
    guard !text.isEmpty else {
      throw .malformedBody("The body is missing, want a JSON object.")
    }
    if let contentType, !isJSON(contentType) {
      throw .unsupportedMediaType(given: contentType)
    }
    let body: (value: JSONValue, members: [String: Data])
    do {
      body = try JSONValue.parsingStrictly(text)
    } catch {
      throw .malformedBody("The body is not JSON: \(error).")
    }
    guard case .object(let members) = body.value else {
      throw .malformedBody("The body is \(body.value.typeName), want an object.")
    }
    self.init(members, raw: body.members)
  }

  /// - Throws: 422 naming every field that is wrong or unknown.
  func finish() throws(Problem) {
    let all = problemsAndUnknown
    if !all.isEmpty { throw .invalidFields(all) }
  }

  private var problemsAndUnknown: [Problem.Field] {
    problems
      + members.keys.filter { !asked.contains($0) }.sorted().map {
        Problem.Field(pointer: place(of: $0), detail: "\($0.prefix(100)) is not a known field")
      }
  }

  /// Notes what was wrong with an object within this one.
  mutating func adopt(_ inner: BodyReader) { problems += inner.problemsAndUnknown }

  mutating func refuse(_ name: String, _ complaint: String) {
    problems.append(Problem.Field(pointer: place(of: name), detail: "\(name) \(complaint)"))
  }

  func place(of name: String) -> String {
    let escaped = name.prefix(100).replacing("~", with: "~0").replacing("/", with: "~1")
    return "\(pointer)/\(escaped)"
  }

  /// Nil when it is absent or null.
  mutating func optional(_ name: String) -> JSONValue? {
    asked.insert(name)
    guard let value = members[name], value != .null else { return nil }
    return value
  }

  private mutating func required(_ name: String, want: String) -> JSONValue? {
    if let value = optional(name) { return value }
    refuse(name, members[name] == nil ? "is missing, want \(want)" : "is null, want \(want)")
    return nil
  }

  mutating func mistyped(_ name: String, _ value: JSONValue, want: String) {
    refuse(name, "is \(value.typeName), want \(want)")
  }
}

// MARK: The types of fields

extension BodyReader {
  /// A text of 1 to `max` Unicode scalars.
  mutating func text(_ name: String, max: Int = BodyReader.textMax) -> String {
    let value = required(name, want: "a string")
    return value.flatMap { checkedText(name, $0, max: max) } ?? ""
  }

  mutating func optionalText(_ name: String, max: Int = BodyReader.textMax) -> String? {
    optional(name).flatMap { checkedText(name, $0, max: max) }
  }

  private mutating func checkedText(_ name: String, _ value: JSONValue, max: Int) -> String? {
    guard case .string(let text) = value else {
      mistyped(name, value, want: "a string")
      return nil
    }
    let length = text.unicodeScalars.count
    if length == 0 {
      refuse(name, "is empty, want 1 to \(max) characters")
    } else if length > max {
      refuse(name, "has \(length) characters, want at most \(max)")
    } else if text.utf8.contains(0) {
      refuse(name, "holds U+0000, which no text may hold")
    } else {
      return text
    }
    return nil
  }

  mutating func flag(_ name: String) -> Bool {
    let value = required(name, want: "a boolean")
    return value.flatMap { checkedFlag(name, $0) } ?? false
  }

  mutating func optionalFlag(_ name: String) -> Bool? {
    optional(name).flatMap { checkedFlag(name, $0) }
  }

  private mutating func checkedFlag(_ name: String, _ value: JSONValue) -> Bool? {
    if case .bool(let flag) = value { return flag }
    mistyped(name, value, want: "a boolean")
    return nil
  }

  /// A whole number that is not negative.
  mutating func optionalCount(_ name: String) -> Int? {
    guard let value = optional(name) else { return nil }
    if case .integer(let number) = value, number >= 0, let count = Int(exactly: number) {
      return count
    }
    switch value {
    case .integer, .number: refuse(name, "is no whole number from 0")
    default: mistyped(name, value, want: "a whole number from 0")
    }
    return nil
  }

  /// One of a fixed set of words; `Word.init` may know more spellings than `words` lists.
  mutating func optionalWord<Word>(
    _ name: String, among words: [String], _ read: (String) -> Word?
  ) -> Word? {
    let want = words.map { "\"\($0)\"" }.joined(separator: ", ")
    guard let value = optional(name) else { return nil }
    guard case .string(let text) = value else {
      mistyped(name, value, want: "one of \(want)")
      return nil
    }
    if let word = read(text) { return word }
    refuse(name, "is \"\(text.prefix(40))\", want one of \(want)")
    return nil
  }

  mutating func word<Word>(
    _ name: String, among words: [String], standIn: Word, _ read: (String) -> Word?
  ) -> Word {
    let want = "one of " + words.map { "\"\($0)\"" }.joined(separator: ", ")
    guard required(name, want: want) != nil else { return standIn }
    return optionalWord(name, among: words, read) ?? standIn
  }

  /// An object of any members, as its bytes came.
  mutating func objectText(_ name: String, bytesMax: Int) -> Data {
    guard let value = required(name, want: "an object") else { return Data() }
    guard case .object = value, let text = raw[name] else {
      mistyped(name, value, want: "an object")
      return Data()
    }
    if text.count > bytesMax {
      refuse(name, "has \(text.count) bytes of JSON, want at most \(bytesMax)")
    }
    return text
  }

  /// The objects of an array, each with its members and its JSON pointer.
  mutating func objects(_ name: String) -> [(members: [String: JSONValue], pointer: String)] {
    guard let value = required(name, want: "an array") else { return [] }
    guard case .array(let elements) = value else {
      mistyped(name, value, want: "an array")
      return []
    }
    var found: [(members: [String: JSONValue], pointer: String)] = []
    for (index, element) in elements.enumerated() {
      let pointer = "\(place(of: name))/\(index)"
      guard case .object(let members) = element else {
        problems.append(
          Problem.Field(
            pointer: pointer, detail: "\(name)[\(index)] is \(element.typeName), want an object"))
        continue
      }
      found.append((members, pointer))
    }
    return found
  }

  /// An object within this one, to be given back with ``adopt(_:)``; nil after a problem.
  mutating func object(_ name: String) -> BodyReader? {
    guard let value = required(name, want: "an object") else { return nil }
    if case .object(let members) = value { return BodyReader(members, at: place(of: name)) }
    mistyped(name, value, want: "an object")
    return nil
  }

  /// Takes a field of any type and makes nothing of it.
  mutating func passOver(_ name: String) { asked.insert(name) }

  /// The members nobody asked for yet, for an object that may hold more than we know.
  mutating func takeRest() -> [String: JSONValue] {
    let rest = members.filter { !asked.contains($0.key) }
    asked.formUnion(rest.keys)
    return rest
  }
}

/// `application/json` or `application/….+json`, with any parameters.
private func isJSON(_ contentType: String) -> Bool {
  let type = contentType.prefix { $0 != ";" }.lowercased().filter { !$0.isWhitespace }
  return type == "application/json" || (type.hasPrefix("application/") && type.hasSuffix("+json"))
}

import Foundation
import Testing
import Vocabulary

/// Foundation's own reader and writer say what is right.
@Suite struct JSONTextTests {
  private struct Sample: Codable, Hashable {
    struct Inner: Codable, Hashable {
      var flag: Bool
      var words: [String]
      var nothing: Int?
    }
    enum Choice: String, Codable { case one, two }

    var zeta: String
    var alpha: Int
    var half: Double
    var small: UInt8
    var inner: [Inner]
    var byName: [String: Inner]
    var choice: Choice
    var moment: UnixTime?
    var any: JSONValue
  }

  private static func byFoundation(_ value: some Encodable) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(value)
  }

  private static let scalars: [Unicode.Scalar] =
    (0...0x7F).map { Unicode.Scalar(UInt8($0)) }
    + ["ä", "ß", "\u{2028}", "🍳", "\u{FFFF}", "e\u{301}"]
    .flatMap(\.unicodeScalars)

  private static func text(_ random: inout some RandomNumberGenerator) -> String {
    var text = ""
    for _ in 0..<Int.random(in: 0...20, using: &random) {
      text.unicodeScalars.append(scalars.randomElement(using: &random)!)
    }
    return text
  }

  private static func value(_ depth: Int, _ random: inout some RandomNumberGenerator) -> JSONValue {
    switch Int.random(in: 0...(depth == 0 ? 4 : 6), using: &random) {
    case 0: .null
    case 1: .bool(.random(using: &random))
    case 2: .integer(.random(in: .min ... .max, using: &random))
    case 3: .number(Double.random(in: -1...1, using: &random) + 0.1)
    case 4: .string(text(&random))
    case 5:
      .array((0..<Int.random(in: 0...4, using: &random)).map { _ in value(depth - 1, &random) })
    default:
      .object(
        Dictionary(
          (0..<Int.random(in: 0...6, using: &random)).map { _ in
            (text(&random), value(depth - 1, &random))
          }
        ) { $1 })
    }
  }

  @Test func `any value is read and written as Foundation does`() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2000 {
      let value = Self.value(4, &random)
      let text = try Self.byFoundation(value)
      #expect(value.encoded == text, "\(String(decoding: text, as: UTF8.self))")
      #expect(try JSONValue(parsing: text) == value)
    }
  }

  @Test func `a type of ours is written and read as Foundation does`() throws {
    let inner = Sample.Inner(flag: true, words: ["a/b", "\"\\\n"], nothing: nil)
    let sample = Sample(
      zeta: "z", alpha: .min, half: 1, small: 255, inner: [inner, inner], byName: ["b": inner],
      choice: .two, moment: UnixTime(milliseconds: 1_800_000_000_123), any: ["k": [1, nil]])
    let text = JSON.encoded(sample)
    #expect(text == (try Self.byFoundation(sample)))
    #expect(try JSON.decode(Sample.self, from: text) == sample)
    #expect(JSON.encoded([String]()) == Data("[]".utf8))
    #expect(JSON.encoded([String: Int]()) == Data("{}".utf8))
  }

  @Test func `a member that is written again counts as it was written last`() throws {
    struct Pair: Encodable {
      enum Name: String, CodingKey { case first, second }

      func encode(to encoder: any Encoder) throws {
        for number in 1...2 {
          var members = encoder.container(keyedBy: Name.self)
          try members.encode(number, forKey: .second)
          try members.encode(number * 10, forKey: .first)
        }
      }
    }
    #expect(JSON.encoded(Pair()) == Data(#"{"first":20,"second":2}"#.utf8))
    #expect(JSON.encoded(Pair()) == (try Self.byFoundation(Pair())))
  }

  /// Written and read bit by bit, in containers within containers.
  private struct Nested: Codable, Hashable {
    var name: String
    var numbers: [Int]
    var pairs: [[String: Int]]
    var words: [[String]]

    enum Outer: String, CodingKey { case zeta, list, alpha, empty }
    enum Inner: String, CodingKey { case name, numbers, later }

    init(name: String, numbers: [Int], pairs: [[String: Int]], words: [[String]]) {
      (self.name, self.numbers, self.pairs, self.words) = (name, numbers, pairs, words)
    }

    func encode(to encoder: any Encoder) throws {
      var outer = encoder.container(keyedBy: Outer.self)
      var inner = outer.nestedContainer(keyedBy: Inner.self, forKey: .zeta)
      try inner.encode(name, forKey: .name)
      var list = outer.nestedUnkeyedContainer(forKey: .list)
      for pair in pairs {
        try list.encode("before")
        var members = list.nestedContainer(keyedBy: AnyName.self)
        for (key, value) in pair { try members.encode(value, forKey: AnyName(key)) }
      }
      var texts = list.nestedUnkeyedContainer()
      for row in words {
        var line = texts.nestedUnkeyedContainer()
        for word in row { try line.encode(word) }
        try texts.encodeNil()
      }
      try list.encode("after")
      try outer.encode(1, forKey: .alpha)
      // Asked for again, it is the same one.
      var again = outer.nestedContainer(keyedBy: Inner.self, forKey: .zeta)
      var numbers = again.nestedUnkeyedContainer(forKey: .numbers)
      for number in self.numbers { try numbers.encode(number) }
      _ = outer.nestedUnkeyedContainer(forKey: .empty)
      try name.encode(to: outer.superEncoder())
    }

    init(from decoder: any Decoder) throws {
      let outer = try decoder.container(keyedBy: Outer.self)
      let inner = try outer.nestedContainer(keyedBy: Inner.self, forKey: .zeta)
      name = try inner.decode(String.self, forKey: .name)
      var digits = try inner.nestedUnkeyedContainer(forKey: .numbers)
      numbers = []
      while !digits.isAtEnd { numbers.append(try digits.decode(Int.self)) }
      pairs = []
      words = []
      var list = try outer.nestedUnkeyedContainer(forKey: .list)
      while (try? list.decode(String.self)) == "before" {
        let members = try list.nestedContainer(keyedBy: AnyName.self)
        pairs.append(
          try Dictionary(
            uniqueKeysWithValues: members.allKeys.map {
              ($0.stringValue, try members.decode(Int.self, forKey: $0))
            }))
      }
      var texts = try list.nestedUnkeyedContainer()
      while !texts.isAtEnd {
        var line = try texts.nestedUnkeyedContainer()
        var row: [String] = []
        while !line.isAtEnd { row.append(try line.decode(String.self)) }
        words.append(row)
        _ = try texts.decodeNil()
      }
      guard try String(from: outer.superDecoder()) == name else {
        throw DecodingError.dataCorruptedError(
          forKey: .zeta, in: outer, debugDescription: "super is another")
      }
    }
  }

  private struct AnyName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ text: String) { stringValue = text }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private class Animal: Codable {
    var name = "Ada"
  }

  private final class Dog: Animal {
    var barks = true
    enum Own: String, CodingKey { case barks, base }

    override init() { super.init() }

    required init(from decoder: any Decoder) throws {
      let own = try decoder.container(keyedBy: Own.self)
      barks = try own.decode(Bool.self, forKey: .barks)
      try super.init(from: own.superDecoder(forKey: .base))
    }

    override func encode(to encoder: any Encoder) throws {
      var own = encoder.container(keyedBy: Own.self)
      try own.encode(barks, forKey: .barks)
      try super.encode(to: own.superEncoder(forKey: .base))
    }
  }

  @Test func `containers within containers are written and read as Foundation does`() throws {
    let samples = [
      Nested(name: "a\"b", numbers: [3, 1], pairs: [["b": 1, "a": 2], [:]], words: [["x"], []]),
      Nested(name: "", numbers: [], pairs: [], words: []),
    ]
    for sample in samples {
      let text = JSON.encoded(sample)
      #expect(text == (try Self.byFoundation(sample)), "\(String(decoding: text, as: UTF8.self))")
      #expect(try JSON.decode(Nested.self, from: text) == sample)
      // Within others too.
      #expect(JSON.encoded([sample, sample]) == (try Self.byFoundation([sample, sample])))
      #expect(JSON.encoded(["k": sample]) == (try Self.byFoundation(["k": sample])))
    }
  }

  @Test func `a subclass is written and read with what it inherits`() throws {
    let text = JSON.encoded([Dog()])
    #expect(text == Data(#"[{"barks":true,"base":{"name":"Ada"}}]"#.utf8))
    #expect(text == (try Self.byFoundation([Dog()])))
    let read = try JSON.decode([Dog].self, from: text)
    #expect(read.first?.barks == true && read.first?.name == "Ada")
  }

  @Test func `an element may be written by its own encoder`() throws {
    struct List: Encodable {
      func encode(to encoder: any Encoder) throws {
        var list = encoder.unkeyedContainer()
        try list.encode(1)
        let first = list.superEncoder()
        let second = list.superEncoder()
        try list.encode(4)
        try "three".encode(to: second)
        try [2].encode(to: first)
        _ = list.superEncoder()
      }
    }
    #expect(JSON.encoded(List()) == Data(#"[1,[2],"three",4,{}]"#.utf8))
    #expect(JSON.encoded(List()) == (try Self.byFoundation(List())))
  }

  @Test(arguments: [1.0, 1e16, 1e300, -0.5, 5e-300, 123_456.75])
  func `a fraction is spelled as Foundation spells it`(number: Double) throws {
    #expect(JSON.encoded([number]) == (try Self.byFoundation([number])))
  }

  @Test(arguments: [
    (#""\u00e4\ud83c\udf73\/\b\f\n\r\t\"\\""#, "ä🍳/\u{8}\u{C}\n\r\t\"\\"), (" \n\t\r\"a\" ", "a"),
  ])
  func `escapes are read`(text: String, value: String) throws {
    #expect(try JSONValue(parsing: Data(text.utf8)) == .string(value))
  }

  @Test(arguments: [
    #""\ud83c""#, #""\ud83cx""#, #""\udf73""#, #""\u+123""#, #""\x""#, "\"\n\"", "01", "1.", ".5",
    "-", "+1", "1e", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "[1 2]", "nulll", "\"", "\"\\",
    "[", "{", "1e400", "NaN", "", " ", #""\u12""#, "tru e", "- 1", "1 2", "{} {}", "\u{FEFF}{}",
    "'a'",
  ])
  func `what RFC 8259 does not know is refused`(text: String) throws {
    #expect(throws: JSONMalformed.self) { try JSONValue(parsing: Data(text.utf8)) }
    let error = #expect(throws: DecodingError.self) {
      try JSON.decode(JSONValue.self, from: Data(text.utf8))
    }
    #expect(try DecodingProblem(#require(error)).path.isEmpty)
  }

  @Test func `bytes that are no UTF-8 are refused`() {
    for bytes: [UInt8] in [
      [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0x5C, 0x6E, 0xFF, 0x22],
    ] {
      #expect(throws: JSONMalformed(offset: 1, reason: "a string is not UTF-8")) {
        try JSONValue(parsing: Data(bytes))
      }
    }
  }

  @Test func `of two members of one name the first counts`() throws {
    #expect(try JSONValue(parsing: Data(#"{"a":1,"a":2}"#.utf8)) == ["a": 1])
  }

  @Test(arguments: [
    (#"{"small":256}"#, "small is wrong: want a whole number of 8 bits"),
    (#"{"small":1.5}"#, "small is wrong: want a whole number of 8 bits"),
    (#"{"small":-1}"#, "small is wrong: want a whole number of 8 bits"),
  ])
  func `a number that does not fit names its field`(text: String, problem: String) throws {
    struct Small: Decodable { let small: UInt8 }
    let error = #expect(throws: DecodingError.self) {
      try JSON.decode(Small.self, from: Data(text.utf8))
    }
    #expect(try DecodingProblem(#require(error)).description == problem)
  }
}

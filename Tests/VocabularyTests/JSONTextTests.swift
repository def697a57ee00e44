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
    "[", "{", "1e400", "NaN",
  ])
  func `what RFC 8259 does not know is refused`(text: String) throws {
    let error = #expect(throws: DecodingError.self) { try JSONValue(parsing: Data(text.utf8)) }
    #expect(try DecodingProblem(#require(error)).path.isEmpty)
  }

  @Test func `bytes that are no UTF-8 are refused`() {
    for bytes: [UInt8] in [
      [0x22, 0xFF, 0x22], [0x22, 0xC3, 0x22], [0x22, 0x5C, 0x6E, 0xFF, 0x22],
    ] {
      #expect(throws: DecodingError.self) { try JSONValue(parsing: Data(bytes)) }
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

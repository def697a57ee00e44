import Foundation
import Testing
import Vocabulary

private let asItCame: [(String, JSONValue)] = [
  ("null", nil), ("true", true), ("false", false), ("0", 0), ("1", 1), ("-7", -7),
  ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
  ("0.5", .number(0.5)), ("\"\"", ""), (#""ä/🐠""#, "ä/🐠"), ("[]", []), ("[1,[null]]", [1, [nil]]),
  ("{}", [:]), (#"{"a":{"b":[true]}}"#, ["a": ["b": [true]]]),
]

private let typeNames: [(JSONValue, String)] = [
  (nil, "null"), (true, "a boolean"), (1, "a number"), (.number(1.5), "a number"),
  ("", "a string"), ([], "an array"), ([:], "an object"),
]

@Suite struct JSONValueTests {
  @Test(arguments: asItCame)
  func `JSON is read and written as it came`(text: String, value: JSONValue) throws {
    #expect(try JSONValue(parsing: Data(text.utf8)) == value)
    #expect(String(decoding: value.encoded, as: UTF8.self) == text)
  }

  @Test func `keys are sorted and slashes stay`() {
    let value: JSONValue = ["b": "/cook-suggest/1", "a": 1, "B": 2]
    #expect(
      String(decoding: value.encoded, as: UTF8.self) == #"{"B":2,"a":1,"b":"/cook-suggest/1"}"#)
  }

  @Test(arguments: [
    ("1.0", "1"), ("1e3", "1000"), ("18446744073709551615", "1.8446744073709552e+19"),
  ])
  func `numbers keep their value, not their spelling`(given: String, written: String) throws {
    let value = try JSONValue(parsing: Data(given.utf8))
    #expect(String(decoding: value.encoded, as: UTF8.self) == written)
  }

  @Test(arguments: ["", " ", "{", "[1", "nul", "1e999", "{\"a\":1}x", "'a'", "[1e999]"])
  func `what is no JSON is refused`(text: String) {
    #expect(throws: JSONMalformed.self) { try JSONValue(parsing: Data(text.utf8)) }
  }

  @Test func `nesting is read to 64 levels and refused beyond`() throws {
    func nested(_ depth: Int) -> Data {
      Data((String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)).utf8)
    }
    #expect(try JSONValue(parsing: nested(JSONValue.depthMax)).encoded == nested(64))
    for depth in [65, 100_000] {
      #expect(throws: JSONMalformed(offset: 65, reason: "nested deeper than 64 levels")) {
        try JSONValue(parsing: nested(depth))
      }
    }
  }

  @Test func `a member is found by its name`() {
    let value: JSONValue = ["a": 1]
    #expect(value["a"] == 1)
    #expect(value["b"] == nil)
    #expect(JSONValue.array([1])["a"] == nil)
  }

  @Test(arguments: typeNames)
  func `types have names for people`(value: JSONValue, name: String) {
    #expect(value.typeName == name)
  }
}

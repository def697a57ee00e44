import Foundation
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct StrictJSONTests {
  @Test(
    arguments: [
      ("null", nil), ("true", true), (" [1, 2] ", [1, 2]), ("{}", [:]), ("-0", 0),
      (#"{"a":{"b":[]}}"#, ["a": ["b": []]]), (#""\u00e4\uD83D\uDC20\n\/""#, "ä🐠\n/"),
      ("9223372036854775807", .integer(.max)), ("1.5e3", 1500),
      ("2.0", 2), ("-0.0", 0), ("0.5", .number(0.5)), ("1e300", .number(1e300)),
    ] as [(String, JSONValue)])
  func `reads every kind of value`(text: String, wanted: JSONValue) throws {
    #expect(try StrictJSON.read(Data(text.utf8)).value == wanted)
  }

  /// What is stored and read back must be equal to what comes again.
  @Test(arguments: ["1.0", "1e3", "-0.0", "9.223372036854775807e18", "1e19", "0.1", "12e-1"])
  func `reads a number as the store reads it back`(text: String) throws {
    let value = try StrictJSON.read(Data(text.utf8)).value
    #expect(try JSONValue(parsing: value.encoded) == value)
  }

  @Test(arguments: [
    "", " ", "{", #"{"a":1,}"#, "[1,]", "[1 2]", #"{"a" 1}"#, "{a:1}", "nul", "tru e", "+1", "01",
    "1.", ".5", "1e", "- 1", #"""#, #""\x""#, #""\u12""#, #""\u+123""#, #""\uD83D""#,
    #""\uD83Dx""#, #""\uDC20""#, "\"a\nb\"", "1e999", "1 2", "{} {}", "\u{FEFF}{}", "'a'",
  ])
  func `refuses what is not JSON`(text: String) {
    #expect(throws: StrictJSON.Malformed.self) { try StrictJSON.read(Data(text.utf8)) }
  }

  @Test(arguments: [#"{"a":1,"a":1}"#, #"{"x":{"a":1,"\u0061":2}}"#])
  func `refuses a name that stands twice`(text: String) throws {
    let error = try #require(throws: StrictJSON.Malformed.self) {
      try StrictJSON.read(Data(text.utf8))
    }
    #expect(error.reason == "the name \"a\" stands twice")
  }

  @Test func `refuses bytes that are not UTF-8`() {
    #expect(throws: StrictJSON.Malformed(offset: 0, reason: "not UTF-8")) {
      try StrictJSON.read(Data([0x22, 0xC3, 0x28, 0x22]))
    }
  }

  @Test func `takes nesting up to its limit and not beyond`() throws {
    func nested(_ depth: Int) -> Data {
      Data((String(repeating: "[", count: depth) + String(repeating: "]", count: depth)).utf8)
    }
    _ = try StrictJSON.read(nested(StrictJSON.depthMax))
    #expect(throws: StrictJSON.Malformed.self) {
      try StrictJSON.read(nested(StrictJSON.depthMax + 1))
    }
  }

  @Test func `keeps the bytes of each member as they came`() throws {
    let text = #"{ "answers" : { "n": 1.10, "deep": {"x":[1e2]} } , "b":null}"#
    let members = try StrictJSON.read(Data(text.utf8)).members
    #expect(
      members.mapValues { String(decoding: $0, as: UTF8.self) } == [
        "answers": #"{ "n": 1.10, "deep": {"x":[1e2]} }"#, "b": "null",
      ])
  }
}

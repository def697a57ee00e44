import Foundation
import Testing
import Vocabulary

@Suite struct StrictJSONTests {
  @Test(
    arguments: [
      ("null", nil), ("true", true), (" [1, 2] ", [1, 2]), ("{}", [:]), ("-0", 0),
      (#"{"a":{"b":[]}}"#, ["a": ["b": []]]), (#""\u00e4\uD83D\uDC20\n\/""#, "ä🐠\n/"),
      ("9223372036854775807", .integer(.max)), ("1.5e3", 1500),
      ("2.0", 2), ("-0.0", 0), ("0.5", .number(0.5)), ("1e300", .number(1e300)),
    ] as [(String, JSONValue)])
  func `reads every kind of value`(text: String, wanted: JSONValue) throws {
    #expect(try JSONValue.parsingStrictly(Data(text.utf8)).value == wanted)
  }

  /// What is stored and read back must be equal to what comes again.
  @Test(arguments: ["1.0", "1e3", "-0.0", "9.223372036854775807e18", "1e19", "0.1", "12e-1"])
  func `reads a number as the store reads it back`(text: String) throws {
    let value = try JSONValue.parsingStrictly(Data(text.utf8)).value
    #expect(try JSONValue(parsing: value.encoded) == value)
  }

  @Test(arguments: [#"{"a":1,"a":1}"#, #"{"x":{"a":1,"\u0061":2}}"#])
  func `refuses a name that stands twice`(text: String) throws {
    let error = try #require(throws: JSONMalformed.self) {
      try JSONValue.parsingStrictly(Data(text.utf8))
    }
    #expect(error.reason == "the name \"a\" stands twice")
    #expect(throws: Never.self) { try JSONValue(parsing: Data(text.utf8)) }
  }

  @Test func `keeps the bytes of each member as they came`() throws {
    let text = #"{ "answers" : { "n": 1.10, "deep": {"x":[1e2]} } , "b":null}"#
    let members = try JSONValue.parsingStrictly(Data(text.utf8)).members
    #expect(
      members.mapValues { String(decoding: $0, as: UTF8.self) } == [
        "answers": #"{ "n": 1.10, "deep": {"x":[1e2]} }"#, "b": "null",
      ])
  }
}

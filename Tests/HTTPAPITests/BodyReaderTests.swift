import Foundation
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct BodyReaderTests {
  private func refusal(
    _ text: String, contentType: String? = nil, _ read: (inout BodyReader) -> Void = { _ in }
  ) -> Problem? {
    do throws(Problem) {
      var body = try BodyReader(body: Data(text.utf8), contentType: contentType)
      read(&body)
      try body.finish()
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [
    ("", "The body is missing, want a JSON object."),
    ("[1]", "The body is an array, want an object."),
    ("{", "The body is not JSON: the text ends too early at byte 1."),
  ])
  func `a body that is no object is a 400 that says what came`(text: String, detail: String) {
    let problem = refusal(text)
    #expect(problem?.status == 400)
    #expect(problem?.detail == detail)
  }

  @Test(
    arguments: [
      (nil, true), ("application/json", true), ("Application/JSON; charset=utf-8", true),
      ("application/merge-patch+json", true), ("text/plain", false), ("text/json", false),
      ("application/x-www-form-urlencoded", false), ("", false),
    ] as [(String?, Bool)])
  func `only JSON content types are taken`(type: String?, isTaken: Bool) {
    #expect(refusal("{}", contentType: type)?.status == (isTaken ? nil : 415))
  }

  @Test func `every wrong field is named at once, unknown ones too`() {
    let text = #"{"name":7,"flag":"yes","kind":"z","rev":-1,"extra/~":1}"#
    let problem = refusal(text) { body in
      _ = body.text("name")
      _ = body.flag("flag")
      _ = body.optionalWord("kind", among: ["x", "y"]) { $0 == "x" ? 1 : nil }
      _ = body.optionalCount("rev")
      _ = body.text("missing")
    }
    #expect(problem?.status == 422)
    #expect(
      problem?.fields == [
        .init(pointer: "/name", detail: "name is a number, want a string"),
        .init(pointer: "/flag", detail: "flag is a string, want a boolean"),
        .init(pointer: "/kind", detail: #"kind is "z", want one of "x", "y""#),
        .init(pointer: "/rev", detail: "rev is no whole number from 0"),
        .init(pointer: "/missing", detail: "missing is missing, want a string"),
        .init(pointer: "/extra~1~0", detail: "extra/~ is not a known field"),
      ])
  }

  @Test func `null counts as absent where a field is optional and is refused where it is not`() {
    #expect(refusal(#"{"a":null}"#) { _ = $0.optionalText("a") } == nil)
    let problem = refusal(#"{"a":null}"#) { _ = $0.text("a") }
    #expect(problem?.fields.map(\.detail) == ["a is null, want a string"])
  }

  @Test(arguments: [
    (1, true), (200, true), (201, false), (0, false),
  ])
  func `a text has 1 to 200 characters`(length: Int, isTaken: Bool) {
    let problem = refusal(#"{"a":"\#(String(repeating: "ü", count: length))"}"#) {
      _ = $0.text("a")
    }
    #expect((problem == nil) == isTaken)
  }

  @Test func `U+0000 is refused: not every store can keep it`() {
    #expect(refusal(#"{"a":"x\u0000"}"#) { _ = $0.text("a") }?.status == 422)
  }

  @Test func `one answer names a bounded number of fields`() {
    let members = (0..<500).map { #""f\#($0)":1"# }.joined(separator: ",")
    #expect(refusal("{\(members)}")?.fields.count == Problem.fieldsMax)
  }
}

extension BodyReaderTests {
  @Test func `an object is kept as its bytes up to the limit`() throws {
    var body = try BodyReader(body: Data(#"{"a": {"n": 1.0}}"#.utf8), contentType: nil)
    #expect(String(decoding: body.objectText("a", bytesMax: 10), as: UTF8.self) == #"{"n": 1.0}"#)
    #expect(body.problems.isEmpty)
    _ = body.objectText("a", bytesMax: 9)
    #expect(body.problems.map(\.detail) == ["a has 10 bytes of JSON, want at most 9"])
  }
}

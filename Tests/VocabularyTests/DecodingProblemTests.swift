import Foundation
import Testing
import Vocabulary

private struct Event: Decodable {
  struct Data: Decodable { let session: Session }
  struct Session: Decodable {
    let rev: Int
    let name: String?
    let flags: [Bool]?
    let at: UnixTime?
    let labels: [String: String]?
  }

  let data: Data
}

private func problem(_ session: String) throws -> DecodingProblem {
  try problem(inDocument: #"{"data":{"session":\#(session)}}"#)
}

private func problem(inDocument text: String) throws -> DecodingProblem {
  let error = #expect(throws: DecodingError.self) {
    try JSON.decode(Event.self, from: Foundation.Data(text.utf8))
  }
  return DecodingProblem(try #require(error))
}

@Suite struct DecodingProblemTests {
  @Test(arguments: [
    ("{}", "data.session.rev is missing"),
    (#"{"rev":"7"}"#, "data.session.rev is a string, want a number"),
    (#"{"rev":true}"#, "data.session.rev is a boolean, want a number"),
    (#"{"rev":null}"#, "data.session.rev is null, want a number"),
    (#"{"rev":[]}"#, "data.session.rev is an array, want a number"),
    (#"{"rev":{}}"#, "data.session.rev is an object, want a number"),
    (#"{"rev":1,"name":1}"#, "data.session.name is a number, want a string"),
    (#"{"rev":1,"flags":{}}"#, "data.session.flags is an object, want an array"),
    (#"{"rev":1,"flags":[true,0]}"#, "data.session.flags[1] is a number, want a boolean"),
    (#"{"rev":1,"labels":3}"#, "data.session.labels is a number, want an object"),
    (#"{"rev":1,"labels":{"a":3}}"#, "data.session.labels.a is a number, want a string"),
    (#"{"rev":1,"at":"x"}"#, "data.session.at is wrong: \"x\" is not an RFC 3339 time"),
    ("[]", "data.session is an array, want an object"),
  ])
  func `the field is named with what is wrong`(session: String, text: String) throws {
    #expect(try problem(session).description == text)
  }

  @Test(arguments: [
    ("", "the document is not JSON: the text ends too early at byte 0"),
    (#"{"data" 1}"#, "the document is not JSON: no colon after a name at byte 8"),
    ("3", "the document is a number, want an object"),
    ("{}", "data is missing"),
  ])
  func `a document that is wrong as a whole says so`(document: String, text: String) throws {
    #expect(try problem(inDocument: document).description == text)
  }

  @Test func `the field has a path and a JSON pointer`() throws {
    let problem = try problem(#"{"rev":1,"flags":[true,0]}"#)
    #expect(problem.path == "data.session.flags[1]")
    #expect(problem.pointer == "/data/session/flags/1")
    #expect(problem.complaint == "is a number, want a boolean")
  }

  @Test func `a pointer escapes what it must`() throws {
    #expect(
      try problem(#"{"rev":1,"labels":{"a/b~c":3}}"#).pointer == "/data/session/labels/a~1b~0c")
  }
}

import HTTPServing
import Testing

@testable import HTTPAPI

@Suite struct ConditionsTests {
  @Test(arguments: [
    ("7", true), (#""7""#, true), (#"W/"7""#, true), ("*", true), (#""6", "7""#, true),
    (#""6""#, false), ("70", false),
  ])
  func `if-match takes a rev with or without quotes`(field: String, allows: Bool) throws {
    #expect(try Conditions.IfMatch(field).allows(7) == allows)
  }

  @Test(arguments: ["", "seven", #""7"#, #""""#, "-7", "+7", "7 8", "7,", "1.0"])
  func `a malformed if-match is a 400`(field: String) throws {
    let problem = try #require(throws: Problem.self) { try Conditions.IfMatch(field) }
    #expect(problem.status == 400)
  }

  @Test(arguments: [
    (#""7""#, true), (#"W/"7""#, true), (#""5", "7""#, true), ("*", true), (#""8""#, false),
    ("7", false), ("", false),
  ])
  func `if-none-match compares weakly`(field: String, isKnown: Bool) throws {
    let request = HTTPRequest(
      method: "GET", target: try #require(RequestTarget("/")),
      headers: [("if-none-match", field)])
    #expect(Conditions.isKnown(Conditions.tag(rev: 7), to: request) == isKnown)
  }
}

@Suite struct TraceparentTests {
  private func traceparent(of given: String?) throws -> String {
    Traceparent.of(
      HTTPRequest(
        method: "GET", target: try #require(RequestTarget("/")),
        headers: given.map { [("traceparent", $0)] } ?? []))
  }

  @Test func `a valid one is kept`() throws {
    let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    #expect(try traceparent(of: given) == given)
    #expect(Traceparent.traceID(given) == "4bf92f3577b34da6a3ce929d0e0e4736")
  }

  @Test(arguments: [
    nil, "", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
    "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
  ])
  func `anything else is replaced by a new one`(given: String?) throws {
    let made = try traceparent(of: given)
    #expect(made != given)
    #expect(made.split(separator: "-").map(\.count) == [2, 32, 16, 2])
  }
}

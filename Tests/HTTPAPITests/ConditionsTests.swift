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

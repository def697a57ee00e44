import Foundation
import Testing
import Vocabulary

@Suite struct IdentifierTests {
  @Test func `an identifier is a plain string in JSON`() throws {
    let id = SessionID("cs_abc")
    #expect(JSON.encoded([id]) == Data(#"["cs_abc"]"#.utf8))
    #expect(try JSON.decode([SessionID].self, from: Data(#"["cs_abc"]"#.utf8)) == [id])
    #expect(id.description == "cs_abc")
  }

  @Test func `identifiers sort by their text`() {
    #expect([UserID("b"), UserID("a")].sorted() == [UserID("a"), UserID("b")])
  }

  @Test(arguments: [
    ("\u{E9}", "e\u{301}"), ("\u{212B}", "A\u{30A}"), ("\u{212B}", "\u{C5}"), ("a", "a\u{0}"),
    ("", "\u{0}"),
    (String(repeating: "x", count: 40) + "\u{E9}", String(repeating: "x", count: 40) + "e\u{301}"),
  ])
  func `ids that only look alike are two`(one: String, other: String) {
    #expect(UserID(one) != UserID(other))
    #expect(Set([UserID(one), UserID(other), UserID(one)]).count == 2)
    #expect((UserID(one) < UserID(other)) != (UserID(other) < UserID(one)))
    #expect(UserID(one) == UserID(String(decoding: Array(one.utf8), as: UTF8.self)))
  }

  @Test func `another JSON type is refused by name`() throws {
    let error = #expect(throws: DecodingError.self) {
      try JSON.decode([String: UserID].self, from: Data(#"{"user_id":7}"#.utf8))
    }
    #expect(
      try DecodingProblem(#require(error)).description == "user_id is a number, want a string")
  }
}

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

  @Test func `another JSON type is refused by name`() throws {
    let error = #expect(throws: DecodingError.self) {
      try JSON.decode([String: UserID].self, from: Data(#"{"user_id":7}"#.utf8))
    }
    #expect(
      try DecodingProblem(#require(error)).description == "user_id is a number, want a string")
  }
}

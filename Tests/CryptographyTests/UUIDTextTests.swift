import Cryptography
import Testing
import Vocabulary

@Suite struct UUIDTextTests {
  private func version(_ text: String) -> Character { Array(text)[14] }

  private func isWellFormed(_ text: String) -> Bool {
    text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil
  }

  @Test func `a random one has version 4 and never comes twice`() {
    let made = (0..<1000).map { _ in UUIDText.random() }
    #expect(made.allSatisfy { isWellFormed($0) && version($0) == "4" })
    #expect(Set(made).count == 1000)
  }

  @Test func `version 7 begins with the milliseconds`() {
    // The moment of RFC 9562, A.6.
    let text = UUIDText.v7(now: UnixTime(milliseconds: 0x017F_22E2_79B0))
    #expect(text.hasPrefix("017f22e2-79b0-7"))
    #expect(isWellFormed(text))
    #expect(text < UUIDText.v7(now: UnixTime(milliseconds: 0x017F_22E2_79B1)))
    #expect(text != UUIDText.v7(now: UnixTime(milliseconds: 0x017F_22E2_79B0)))
  }

  @Test func `the same parts give the same id for ever`() {
    let text = UUIDText.named(["event", "token"])
    #expect(isWellFormed(text) && version(text) == "8")
    #expect(text == UUIDText.named(["event", "token"]))
    // Written down, so that a change that would give running jobs a second id is seen.
    #expect(text == "7f915220-a97a-8e7d-9f33-ad26a4c45443")
  }

  @Test func `parts do not run into each other`() {
    let all: [[String]] = [
      ["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["", "abc"], [], [""], ["c", "ab"],
    ]
    #expect(Set(all.map(UUIDText.named)).count == all.count)
  }
}

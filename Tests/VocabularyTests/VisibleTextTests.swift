import Testing
import Vocabulary

@Suite struct VisibleTextTests {
  @Test(arguments: [
    ("", ""), ("Größe 🍲", "Größe 🍲"), ("a\u{1B}[2Jb", #"a\u{1B}[2Jb"#), ("\u{9B}2J", #"\u{9B}2J"#),
    ("a\nb\tc\r", #"a\u{A}b\u{9}c\u{D}"#), ("\u{7F}\u{0}", #"\u{7F}\u{0}"#),
    ("admin\u{202E}txt", #"admin\u{202E}txt"#), ("\u{2068}x\u{2069}", #"\u{2068}x\u{2069}"#),
  ])
  func `what a terminal would obey is written out`(text: String, shown: String) {
    #expect(text.visible == shown)
  }

  @Test func `lines stay lines where a text has some`() {
    #expect("a\n\tb\u{1B}c\r\n".visibleLines == "a\n\tb\\u{1B}c\\u{D}\n")
  }
}

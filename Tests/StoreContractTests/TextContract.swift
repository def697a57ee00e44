import Pipeline
import Sessions
import Testing
import Vocabulary

/// Every text that a caller can send comes back as it was, and finds what was stored by it alone.
@Suite struct TextContract {
  static let texts = [
    "", "a\u{0}b", "\u{0}", "\u{10FFFF}", "\u{10FFFF}0", "\u{10FFFF}1\u{0}", "Ünal 🍜", "'; --",
    "\\",
    "{1,2}", "NULL", "\u{1F469}\u{200D}\u{1F373}",
  ]

  @Test(arguments: StoreUnderTest.allCases)
  func `any text comes back as it was`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      for text in Self.texts {
        try rows.save(Profile(userID: UserID("u" + text), name: text, emoji: text))
      }
    }
    let users = Self.texts.map { UserID("u" + $0) }
    let found = try store.read { try $0.profiles(of: users) }
    #expect(found.count == Self.texts.count)
    for text in Self.texts {
      #expect(found[UserID("u" + text)]?.name == text)
      #expect(found[UserID("u" + text)]?.emoji == text)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a name with U+0000 in it finds nothing that is called like its beginning`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    try store.write { try $0.save(session()) }
    #expect(try store.read { try $0.session(SessionID(dinner.text + "\u{0}")) } == nil)
    #expect(try store.read { try $0.session(SessionID(dinner.text + "\u{0}x")) } == nil)
    #expect(try store.read { try $0.liveSessionCount(of: UserID(dennis.text + "\u{0}")) } == 0)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `rows of one moment are ordered by the bytes of their names`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let ids = ["a", "B", "Z", "z", "_", "ä", "a-b", "ab"]
    try store.write { rows in
      for id in ids { _ = try rows.insert(notification(id)) }
    }
    let wanted = ids.sorted { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) }
    let found = try store.read {
      try $0.notifications(of: dennis, before: nil, updatedSince: nil, limit: 99)
    }
    #expect(found.map(\.id) == wanted.reversed())
    let behind = try store.read {
      try $0.notifications(of: dennis, before: (noon, "a"), updatedSince: nil, limit: 99)
    }
    #expect(behind.map(\.id) == wanted.prefix { $0 != "a" }.reversed())
  }
}

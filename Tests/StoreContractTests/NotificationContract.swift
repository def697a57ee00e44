import Foundation
import Pipeline
import Testing
import Vocabulary

@Suite struct NotificationContract {
  @Test(arguments: StoreUnderTest.allCases)
  func `a user has one notification per dedupe key`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      let inserted = [
        try rows.insert(notification("n1", dedupeKey: "invite")),
        try rows.insert(notification("n2", dedupeKey: "invite")),
        try rows.insert(notification("n3", user: alina, dedupeKey: "invite")),
      ]
      #expect(inserted == [true, false, true])
      #expect(try rows.notification("n1", of: dennis) == notification("n1", dedupeKey: "invite"))
      #expect(try rows.notification("n2", of: dennis) == nil)
      #expect(try rows.notification("n1", of: alina) == nil)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `pages go back in time without a gap, ties by id`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let entries = [("a", 0), ("b", 0), ("c", 0), ("d", 1), ("e", -1)]
    try store.write { rows in
      for (id, second) in entries {
        _ = try rows.insert(notification(id, createdAt: noon + .seconds(second)))
      }
      _ = try rows.insert(notification("x", user: alina))
    }
    var ids: [String] = []
    var cursor: (createdAt: UnixTime, id: String)?
    while true {
      let page = try store.read {
        try $0.notifications(of: dennis, before: cursor, updatedSince: nil, limit: 2)
      }
      guard let last = page.last else { break }
      #expect(page.count <= 2)
      ids += page.map(\.id)
      cursor = (last.createdAt, last.id)
    }
    #expect(ids == ["d", "c", "b", "a", "e"])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a poller gets what changed since, newest first`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      for (id, created, updated) in [("a", 0, 9), ("b", 1, 5), ("c", 2, 4)] {
        _ = try rows.insert(
          notification(
            id, createdAt: noon + .seconds(created), updatedAt: noon + .seconds(updated)))
      }
      let since = noon + .seconds(5)
      let all = try rows.notifications(of: dennis, before: nil, updatedSince: since, limit: 9)
      #expect(all.map(\.id) == ["b", "a"])
      let rest = try rows.notifications(
        of: dennis, before: (noon + .seconds(1), "b"), updatedSince: since, limit: 9)
      #expect(rest.map(\.id) == ["a"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `saving changes what may change`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    var seen = notification("n1")
    try store.write { _ = try $0.insert(seen) }
    seen.seenAt = noon + .seconds(1)
    seen.readAt = noon + .seconds(2)
    seen.updatedAt = noon + .seconds(2)
    try store.write { try $0.save(seen) }
    #expect(try store.read { try $0.notification("n1", of: dennis) } == seen)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `resolving changes every user's open entry once`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      _ = try rows.insert(notification("n1", dedupeKey: "invite"))
      _ = try rows.insert(notification("n2", user: alina, dedupeKey: "invite"))
      _ = try rows.insert(notification("n3", dedupeKey: "other"))
      #expect(try rows.resolvedKeys(among: ["invite", "other", "none"]).isEmpty)
      let moment = noon + .seconds(7)
      let changed = try rows.resolve(dedupeKey: "invite", because: "joined", at: moment)
      #expect(changed.map(\.id) == ["n2", "n1"])
      #expect(changed.allSatisfy { $0.resolvedReason == "joined" && $0.updatedAt == moment })
      #expect(try rows.notification("n1", of: dennis) == changed[1])
      #expect(try rows.resolve(dedupeKey: "invite", because: "late", at: noon).isEmpty)
      #expect(try rows.resolvedKeys(among: ["invite", "other", "none"]) == ["invite"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a stored answer belongs to its user, route and key, until it is old`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    func answer(_ status: Int, at moment: UnixTime = noon) -> StoredAnswer {
      StoredAnswer(
        requestDigest: "ab", status: status, headers: ["location": "/a/b", "etag": "\"1\""],
        body: status == 204 ? Data() : Data([0, 255]), storedAt: moment)
    }
    try store.write { rows in
      try rows.save(answer(500), forKey: "k", of: dennis, route: "POST /a")
      try rows.save(answer(204), forKey: "k", of: dennis, route: "POST /a")
      try rows.save(answer(201), forKey: "k", of: dennis, route: "POST /b")
      try rows.save(answer(200, at: noon + .seconds(9)), forKey: "k", of: alina, route: "POST /a")
      #expect(try rows.answer(forKey: "k", of: dennis, route: "POST /a") == answer(204))
      #expect(try rows.answer(forKey: "k", of: dennis, route: "POST /b") == answer(201))
      #expect(try rows.answer(forKey: "x", of: dennis, route: "POST /a") == nil)
      let border = noon + .milliseconds(1)
      try rows.removeAnswers(storedBefore: border, limit: 1)
      let left = try ["POST /a", "POST /b"].compactMap {
        try rows.answer(forKey: "k", of: dennis, route: $0)
      }
      #expect(left.count == 1)
      try rows.removeAnswers(storedBefore: border, limit: 9)
      #expect(try rows.answer(forKey: "k", of: dennis, route: "POST /b") == nil)
      #expect(try rows.answer(forKey: "k", of: alina, route: "POST /a")?.status == 200)
    }
  }
}

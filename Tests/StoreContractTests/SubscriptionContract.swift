import Cryptography
import Pipeline
import Pushes
import Testing
import Vocabulary

@Suite struct SubscriptionContract {
  private func subscription(
    _ name: String = "a", of user: UserID = dennis, keys: WebPushKeys? = nil, key: String = "k1",
    at moment: UnixTime = noon
  ) throws -> WebPushSubscription {
    let fresh = try WebPushKeys(
      p256dh: AgreementKey.generate().publicKey, auth: RandomBytes.make(16))
    return WebPushSubscription(
      userID: user, endpoint: try PushEndpoint("https://fcm.googleapis.com/fcm/send/\(name)"),
      keys: keys ?? fresh, vapidKeyID: key, createdAt: moment)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `what was saved is found by user and by id, oldest first`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let first = try subscription("b")
    let second = try subscription("a", at: noon + .seconds(1))
    let other = try subscription("c", of: alina)
    try store.write { rows in
      for row in [second, first, other] {
        let saved = try rows.save(row)
        #expect(saved == row)
      }
    }
    try store.read { rows in
      #expect(try rows.subscriptions(of: [dennis, dennis]) == [dennis: [first, second]])
      let found = try rows.subscriptions([first.id, other.id, SubscriptionID("nobody")])
      #expect(found == [first.id: first, other.id: other])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `the same subscription keeps its VAPID key and creation`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let first = try subscription()
    try store.write { rows in
      _ = try rows.save(first)
      let again = try subscription(keys: first.keys, key: "k2", at: noon + .seconds(60))
      #expect(try rows.save(again) == first)
      #expect(try rows.subscriptions(of: [dennis]) == [dennis: [first]])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `other keys at the same endpoint are a new subscription`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let first = try subscription()
    let anew = try subscription(key: "k2", at: noon + .seconds(60))
    try store.write { rows in
      _ = try rows.save(first)
      #expect(try rows.markResubscribe(first, at: noon))
      #expect(try rows.save(anew) == anew)
      #expect(try rows.subscriptions([first.id, anew.id]) == [anew.id: anew])
      #expect(try rows.subscriptions(of: [dennis]) == [dennis: [anew]])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a browser that changes hands moves to its new user`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let first = try subscription()
    try store.write { rows in
      _ = try rows.save(first)
      let moved = try rows.save(subscription(of: alina, keys: first.keys))
      #expect(moved.userID == alina)
      #expect(moved.id == first.id)
      #expect(try rows.subscriptions(of: [dennis, alina]) == [alina: [moved]])
      #expect(try rows.unsubscribe(first.endpoint, of: dennis) == 0)
      #expect(try rows.unsubscribe(first.endpoint, of: alina) == 1)
      #expect(try rows.unsubscribe(first.endpoint, of: alina) == 0)
      #expect(try rows.subscriptions(of: [alina]).isEmpty)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `only the row whose endpoint and key still match is pruned`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let first = try subscription()
    let anew = try subscription()
    try store.write { rows in
      _ = try rows.save(first)
      _ = try rows.save(anew)
      #expect(try !rows.prune(first, because: "410", at: noon))
      #expect(try rows.subscriptions(of: [dennis]) == [dennis: [anew]])
      #expect(try rows.prune(anew, because: "410", at: noon))
      #expect(try !rows.prune(anew, because: "410", at: noon))
      #expect(try rows.subscriptions(of: [dennis]).isEmpty)
      #expect(try rows.subscriptions([anew.id]).isEmpty)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a pruning is taken back by its reason, or by registering again`(kind: StoreUnderTest) throws
  {
    let store = try kind.open()
    let all = try ["a", "b", "c"].map { try subscription($0) }
    try store.write { rows in
      for row in all { _ = try rows.save(row) }
      _ = try rows.prune(all[0], because: "410", at: noon)
      _ = try rows.prune(all[1], because: "404", at: noon)
      #expect(try rows.restore(all.map(\.id), prunedBecause: "410") == 1)
      #expect(Set(try rows.subscriptions(all.map(\.id)).keys) == [all[0].id, all[2].id])
      _ = try rows.save(all[1])
      #expect(try rows.subscriptions(all.map(\.id)).count == 3)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a marked one gets nothing, and stays marked while it is the same`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    let first = try subscription()
    try store.write { rows in
      _ = try rows.save(first)
      let otherKey = try subscription(keys: first.keys, key: "k2")
      #expect(try !rows.markResubscribe(otherKey, at: noon))
      #expect(try rows.markResubscribe(first, at: noon + .seconds(1)))
      #expect(try !rows.markResubscribe(first, at: noon + .seconds(2)))
      #expect(try rows.subscriptions(of: [dennis]).isEmpty)
      #expect(try rows.subscriptions([first.id]).isEmpty)
      #expect(try rows.save(first).resubscribeSince == noon + .seconds(1))
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `rows pruned long ago are removed, a few at a time`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let all = try ["a", "b", "c", "d", "e"].map { try subscription($0) }
    try store.write { rows in
      for (place, row) in all.enumerated() {
        _ = try rows.save(row)
        guard place < 4 else { continue }
        _ = try rows.prune(row, because: "410", at: noon + .seconds(Int64(place + 1)))
      }
      let border = noon + .seconds(4)
      #expect(try rows.removeSubscriptions(prunedBefore: border, limit: 2) == 2)
      #expect(try rows.removeSubscriptions(prunedBefore: border, limit: 2) == 1)
      #expect(try rows.removeSubscriptions(prunedBefore: border, limit: 2) == 0)
      #expect(try rows.restore(all.map(\.id), prunedBecause: "410") == 1)
      #expect(Set(try rows.subscriptions(all.map(\.id)).keys) == [all[3].id, all[4].id])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a Web Push that was taken counts as accepted`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      let statuses = [200, 201, 202, 203, 410]
      try rows.save(
        statuses.map { delivery(job: "\($0)", status: $0) } + [delivery(job: "none", status: nil)])
      let asked = statuses.map { "\($0)" } + ["none", "unknown"]
      #expect(try rows.acceptedJobs(among: asked) == ["200", "201", "202"])
    }
  }
}

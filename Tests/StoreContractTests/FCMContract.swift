import Pipeline
import Pushes
import Testing
import Vocabulary

@Suite struct FCMContract {
  private let noon = UnixTime(milliseconds: 1_781_784_000_000)
  private let ada = UserID("ada")

  private func phone(
    _ token: String, of user: String = "ada", device: String? = nil, at moment: Int64 = 0
  ) throws -> FCMRegistration {
    FCMRegistration(
      userID: UserID(user), token: try FCMToken(token), deviceID: device,
      packageName: "app.example.cook", registeredAt: noon + .seconds(moment))
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a new token replaces the device's old one, and a token moves with its phone`(
    kind: StoreUnderTest
  ) throws {
    try kind.open().write { rows in
      try rows.register(phone("one", device: "d"))
      try rows.register(phone("two", at: 1))
      try rows.register(phone("three", device: "d", at: 2))
      #expect(try rows.fcmRegistrations(of: [ada])[ada]?.map(\.token.text) == ["two", "three"])
      try rows.register(phone("two", of: "ben", at: 3))
      #expect(try rows.fcmRegistrations(of: [ada])[ada]?.map(\.token.text) == ["three"])
      let two = try FCMToken("two")
      #expect(try rows.unregister(two, of: ada) == 0, "it is Ben's now")
      #expect(try rows.unregister(two, of: UserID("ben")) == 1)
      #expect(try rows.fcmRegistrations([two]).isEmpty)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a pruning is a mark that registering takes back`(kind: StoreUnderTest) throws {
    try kind.open().write { rows in
      let token = try FCMToken("one")
      try rows.register(phone("one", at: 10))
      #expect(
        try !rows.prune(token, because: "gone", unlessRegisteredAfter: noon, at: noon),
        "registered since")
      let later = noon + .seconds(10)
      #expect(try rows.prune(token, because: "gone", unlessRegisteredAfter: later, at: later))
      #expect(try rows.fcmRegistrations([token]).isEmpty)
      #expect(try rows.restore([token], prunedBecause: "other") == 0)
      #expect(try rows.restore([token], prunedBecause: "gone") == 1)
      #expect(try rows.prune(token, because: "gone", unlessRegisteredAfter: later, at: later))
      #expect(try rows.removeFCM(prunedBefore: later, deliveredBefore: noon, limit: 9) == 0)
      try rows.register(phone("one", at: 11))
      #expect(try rows.fcmRegistrations([token])[token] != nil)
      #expect(
        try rows.prune(
          token, because: "gone", unlessRegisteredAfter: later + .seconds(9), at: later))
      #expect(
        try rows.removeFCM(prunedBefore: later + .seconds(1), deliveredBefore: noon, limit: 9) == 1)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `phones are listed page by page, pruned ones included`(kind: StoreUnderTest) throws {
    try kind.open().write { rows in
      for number in 1...5 {
        try rows.register(phone("t\(number)", of: number < 4 ? "ada" : "ben", at: Int64(number)))
      }
      _ = try rows.prune(
        FCMToken("t2"), because: "gone", unlessRegisteredAfter: noon + .seconds(9),
        at: noon + .seconds(9))
      func names(_ query: FCMQuery) throws -> [String] {
        try rows.fcmRows(query).map(\.registration.token.text)
      }
      #expect(try names(FCMQuery()) == ["t1", "t2", "t3", "t4", "t5"])
      #expect(try names(FCMQuery(user: ada)) == ["t1", "t2", "t3"])
      #expect(try names(FCMQuery(user: ada, isPruned: false)) == ["t1", "t3"])
      #expect(try names(FCMQuery(isPruned: true)) == ["t2"])
      #expect(try names(FCMQuery(prunedBecause: "gone", prunedSince: noon)) == ["t2"])
      #expect(try names(FCMQuery(prunedBecause: "other")).isEmpty)
      #expect(try names(FCMQuery(prunedSince: noon + .seconds(10))).isEmpty)
      let pruned = try #require(try rows.fcmRows(FCMQuery(isPruned: true)).first)
      #expect(pruned.prunedAt == noon + .seconds(9))
      #expect(pruned.prunedBecause == "gone")
      #expect(pruned.registration == (try phone("t2", at: 2)))
      let first = try rows.fcmRows(FCMQuery(user: ada), after: 0, limit: 2)
      #expect(first.map(\.row.registration.token.text) == ["t1", "t2"])
      let rest = try rows.fcmRows(FCMQuery(user: ada), after: first[1].place, limit: 2)
      #expect(rest.map(\.row.registration.token.text) == ["t3"])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `phones that were not registered for long are pruned, the oldest first`(
    kind: StoreUnderTest
  ) throws {
    try kind.open().write { rows in
      for number in Int64(1)...4 { try rows.register(phone("t\(number)", at: number)) }
      let border = noon + .seconds(4)
      func prune(_ limit: Int) throws -> Int {
        try rows.pruneFCM(
          registeredBefore: border, because: TokenLife.reason, at: border, limit: limit)
      }
      #expect(try prune(2) == 2)
      #expect(try rows.fcmRegistrations(of: [ada])[ada]?.map(\.token.text) == ["t3", "t4"])
      #expect(try prune(9) == 1)
      #expect(try prune(9) == 0)
      let pruned = try rows.fcmRows(FCMQuery(isPruned: true))
      #expect(pruned.allSatisfy { $0.prunedAt == border && $0.prunedBecause == TokenLife.reason })
      // As an app does at each start.
      try rows.register(phone("t1", at: 5))
      #expect(try rows.restore([FCMToken("t1"), FCMToken("t2")], prunedBecause: "NotSeen") == 1)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `what is delivered only rises`(kind: StoreUnderTest) throws {
    try kind.open().write { rows in
      let (card, token) = (ContextKey("card"), try FCMToken("one"))
      #expect(try rows.deliveredRev(of: card, to: token) == nil)
      #expect(try rows.raiseDeliveredRev(of: card, to: token, rev: 3, at: noon) == 3)
      #expect(try rows.raiseDeliveredRev(of: card, to: token, rev: 2, at: noon) == 3)
      #expect(try rows.deliveredRev(of: card, to: token) == 3)
      #expect(try rows.deliveredRev(of: ContextKey("other"), to: token) == nil)
      try rows.forgetDeliveredRev(of: card, to: token)
      #expect(try rows.deliveredRev(of: card, to: token) == nil)
      _ = try rows.raiseDeliveredRev(of: card, to: token, rev: 4, at: noon)
      #expect(
        try rows.removeFCM(prunedBefore: noon, deliveredBefore: noon + .seconds(1), limit: 9) == 1)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `rev 0, which nobody heard of, is one, and every other rises above it`(
    kind: StoreUnderTest
  ) throws {
    try kind.open().write { rows in
      let (card, token) = (ContextKey("card"), try FCMToken("one"))
      #expect(try rows.raiseDeliveredRev(of: card, to: token, rev: 0, at: noon) == 0)
      #expect(try rows.deliveredRev(of: card, to: token) == 0, "not the same as none")
      #expect(try rows.raiseDeliveredRev(of: card, to: token, rev: 1, at: noon) == 1)
      #expect(try rows.raiseDeliveredRev(of: card, to: token, rev: 0, at: noon) == 1)
      #expect(try rows.deliveredRev(of: card, to: token) == 1)
      // What goes out once more is lower than what was delivered, and may be 0.
      try rows.forgetDeliveredRev(of: card, to: token)
      #expect(try rows.raiseDeliveredRev(of: card, to: token, rev: 0, at: noon) == 0)
      #expect(try rows.deliveredRev(of: card, to: token) == 0)
    }
  }
}

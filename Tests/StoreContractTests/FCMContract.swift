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
}

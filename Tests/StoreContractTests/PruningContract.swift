import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct PruningContract {
  private func register(_ number: UInt8, at moment: UnixTime, in rows: any StoreTransaction) throws
  {
    try rows.register(
      Registration(
        userID: dennis, token: token(number), kind: .update, contextKey: dinnerOfDennis,
        registeredAt: moment))
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a pruned row is nowhere to be found, and pruned once`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try register(1, at: noon, in: rows)
      let one = try token(1)
      #expect(try rows.prune(one, because: "Unregistered", unlessRegisteredAfter: noon) == 1)
      #expect(try rows.prune(one, because: "Unregistered", unlessRegisteredAfter: noon) == 0)
      #expect(try rows.registrations(of: [one]).isEmpty)
      #expect(try rows.updateTokens(of: [dinnerOfDennis]).isEmpty)
      #expect(try rows.tokens(of: [dennis], kind: .update).isEmpty)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a row registered after the moment is kept, one of the moment is not`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    try store.write { rows in
      try register(1, at: noon + .milliseconds(1), in: rows)
      try register(2, at: noon, in: rows)
      #expect(try rows.prune(token(1), because: "x", unlessRegisteredAfter: noon) == 0)
      #expect(try rows.prune(token(2), because: "x", unlessRegisteredAfter: noon) == 1)
      #expect(try rows.updateTokens(of: [dinnerOfDennis])[dinnerOfDennis]?.count == 1)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `registering again takes a pruning back`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try register(1, at: noon, in: rows)
      _ = try rows.prune(token(1), because: "x", unlessRegisteredAfter: noon)
      try register(1, at: noon + .seconds(1), in: rows)
      #expect(try rows.registrations(of: [token(1)]).count == 1)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `restoring takes back the prunings of one reason`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      for number in UInt8(1)...3 { try register(number, at: noon, in: rows) }
      _ = try rows.prune(token(1), because: "BadDeviceToken", unlessRegisteredAfter: noon)
      _ = try rows.prune(token(2), because: "Unregistered", unlessRegisteredAfter: noon)
      let all = try [token(1), token(2), token(3)]
      #expect(try rows.restore(all, prunedBecause: "BadDeviceToken") == 1)
      let back = try rows.registrations(of: all)
      #expect(Set(back.keys) == [try token(1), try token(3)])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `rows pruned long ago are removed, a few at a time`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      for number in UInt8(1)...4 {
        try register(number, at: noon, in: rows)
        let moment = noon + .seconds(Int64(number))
        _ = try rows.prune(token(number), because: "x", unlessRegisteredAfter: moment)
      }
      try register(5, at: noon, in: rows)
      let border = noon + .seconds(4)
      #expect(try rows.removeRegistrations(prunedBefore: border, limit: 2) == 2)
      #expect(try rows.removeRegistrations(prunedBefore: border, limit: 2) == 1)
      #expect(try rows.removeRegistrations(prunedBefore: border, limit: 2) == 0)
      let all = try (UInt8(1)...5).map { try token($0) }
      #expect(try rows.restore(all, prunedBecause: "x") == 1)
      #expect(Set(try rows.registrations(of: all).keys) == [try token(4), try token(5)])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `the delivered rev of a token never goes down`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try register(1, at: noon, in: rows)
      try register(2, at: noon, in: rows)
      func delivered(_ number: UInt8) throws -> Int? { try rows.deliveredRev(to: token(number)) }
      #expect(try [delivered(1), delivered(2)] == [nil, nil])
      let newest = try [3, 5, 4].map { try rows.raiseDeliveredRev(to: $0, token: token(1)) }
      #expect(newest == [3, 5, 5])
      #expect(try [delivered(1), delivered(2)] == [5, nil])
      try register(1, at: noon + .seconds(1), in: rows)
      #expect(try delivered(1) == 5)
      try rows.forgetDeliveredRev(of: token(1))
      #expect(try delivered(1) == nil)
      #expect(try rows.raiseDeliveredRev(to: 1, token: token(9)) == nil)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `for another activity nothing was delivered yet`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try register(1, at: noon, in: rows)
      #expect(try rows.raiseDeliveredRev(to: 9, token: token(1)) == 9)
      try rows.register(
        Registration(
          userID: dennis, token: token(1), kind: .update, contextKey: ContextKey("other"),
          registeredAt: noon))
      #expect(try rows.deliveredRev(to: token(1)) == nil)
    }
  }
}

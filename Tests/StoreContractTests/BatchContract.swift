import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

/// What is asked and noted of many pushes at once: as many as fill several statements, and a rest.
@Suite struct BatchContract {
  private static let many = 19

  private func register(
    _ number: UInt8, attributesType: String? = nil, context: ContextKey = dinnerOfDennis,
    in rows: any StoreTransaction
  ) throws {
    try rows.register(
      Registration(
        userID: dennis, token: token(number), kind: .update, contextKey: context,
        attributesType: attributesType, registeredAt: noon))
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `of many records each is kept as it is, in their order`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let records = (0..<Self.many).map {
      delivery(
        job: "j\($0)", event: $0.isMultiple(of: 2) ? "update" : "alert",
        status: $0.isMultiple(of: 3) ? nil : 200 + $0)
    }
    try store.write { try $0.save(records) }
    #expect(try store.read { try $0.deliveries(of: dinner) } == records)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `many standings are those of each`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let states = (0..<Self.many).map { number in
      activityState(ContextKey("context \(number)"), rev: 100 + number)
    }
    try store.write { rows in
      try rows.save(states)
      for number in 0..<UInt8(Self.many) where number != 4 {
        try register(number, context: ContextKey("context \(number)"), in: rows)
        // Two rows of one token.
        if number == 5 { try register(number, attributesType: "Other", in: rows) }
        guard number.isMultiple(of: 2) else { continue }
        _ = try rows.raiseDeliveredRev(to: 50 + Int(number), token: token(number))
      }
      _ = try rows.prune(token(7), because: "x", unlessRegisteredAfter: noon)
    }
    try store.read { rows in
      let asked = try (0..<Self.many).map { number -> (token: PushToken, context: ContextKey?) in
        (try token(UInt8(number)), number == 2 ? nil : states[number].contextKey)
      }
      let standings = try rows.standings(of: asked)
      #expect(try standings == asked.map { try rows.standings(of: [$0])[0] })
      #expect(standings.map(\.registrations.count) == [1, 1, 1, 1, 0, 2, 1, 0] + .ones(11))
      #expect(standings[1].newestRev == 101)
      #expect(standings[2].newestRev == nil)
      #expect(standings[4] == PushStanding())
      #expect(standings[18].newestRev == 118)
      #expect(standings.map(\.deliveredRev)[14...] == [64, nil, 66, nil, 68])
      #expect(standings[5].place == nil)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `revs of many tokens are raised at once`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      for number in UInt8(1)...4 { try register(number, in: rows) }
      try register(3, attributesType: "Other", in: rows)
      let first = try [(1, 5), (9, 5), (3, 4)].map { number, rev in
        AcceptedRev(token: try token(UInt8(number)), rev: rev)
      }
      #expect(try rows.raiseDeliveredRevs(first) == [5, nil, 4])
      let second = try [(3, 6), (1, 3), (2, 1)].map { number, rev in
        AcceptedRev(token: try token(UInt8(number)), rev: rev)
      }
      #expect(try rows.raiseDeliveredRevs(second) == [6, 5, 1])
      let known = try (UInt8(1)...4).map { try rows.deliveredRev(to: token($0)) }
      #expect(known == [5, 1, 6, nil])
      #expect(try rows.raiseDeliveredRevs([]) == [])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `the place of a token is a hint, and a wrong one does no harm`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try register(1, in: rows)
      try register(2, in: rows)
      let places = try rows.standings(of: [(token(1), nil), (token(2), nil)]).map(\.place)
      func raise(_ number: UInt8, to rev: Int, at place: Int64?) throws -> [Int?] {
        try rows.raiseDeliveredRevs([
          AcceptedRev(token: try token(number), rev: rev, place: place)
        ])
      }
      #expect(try raise(1, to: 3, at: places[0]) == [3])
      #expect(try raise(1, to: 2, at: places[0]) == [3])
      #expect(try raise(1, to: 5, at: places[1]) == [5])
      #expect(try rows.deliveredRev(to: token(2)) == nil)
      // Another row came after the place was told.
      try register(1, attributesType: "Other", in: rows)
      #expect(try raise(1, to: 7, at: places[0]) == [7])
      #expect(try raise(1, to: 6, at: places[0]) == [7])
      #expect(try rows.deliveredRev(to: token(1)) == 7)
      #expect(try rows.unregister(token(1), of: dennis, kind: nil, attributesType: nil) == 2)
      #expect(try raise(1, to: 8, at: places[0]) == [nil])
      #expect(try rows.deliveredRev(to: token(2)) == nil)
    }
  }
}

extension [Int] {
  fileprivate static func ones(_ count: Int) -> [Int] { Array(repeating: 1, count: count) }
}

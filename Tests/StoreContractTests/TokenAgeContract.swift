import Pipeline
import Pushes
import Testing
import Vocabulary

@Suite struct TokenAgeContract {
  private func register(
    _ number: UInt8, _ kind: TokenKind, at moment: UnixTime, in rows: any StoreTransaction
  ) throws {
    try rows.register(
      Registration(
        userID: dennis, token: token(number), kind: kind,
        contextKey: kind == .update ? dinnerOfDennis : nil, registeredAt: moment))
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `E-5 tokens of one kind that were not registered for long are pruned, the oldest first`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    try store.write { rows in
      for number in UInt8(1)...4 {
        try register(number, .alert, at: noon + .seconds(Int64(number)), in: rows)
      }
      try register(9, .pushToStart, at: noon, in: rows)
      let border = noon + .seconds(4)
      func prune(_ limit: Int) throws -> Int {
        try rows.prune(
          .alert, registeredBefore: border, because: TokenLife.reason, at: border, limit: limit)
      }
      #expect(try prune(2) == 2)
      #expect(try rows.tokens(of: [dennis], kind: .alert)[dennis]?.count == 2)
      #expect(try rows.registrations(of: [token(1), token(2)]).isEmpty)
      #expect(try prune(9) == 1)
      #expect(try prune(9) == 0)
      let all = try (UInt8(1)...9).map { try token($0) }
      #expect(Set(try rows.registrations(of: all).keys) == [try token(4), try token(9)])
      let pruned = try rows.tokenRows(TokenQuery(user: dennis, isPruned: true))
      #expect(pruned.allSatisfy { $0.prunedAt == border && $0.prunedBecause == TokenLife.reason })
      // As an app does at each start.
      try register(1, .alert, at: border, in: rows)
      #expect(try prune(9) == 0)
      #expect(try rows.restore(all, prunedBecause: TokenLife.reason) == 2)
    }
  }

  private func start(_ session: SessionID, _ context: ContextKey) throws -> Start {
    Start(sessionID: session, token: try token(1), contextKey: context, firstAskedAt: noon)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `E-9 E-10 the newest accepted start tells whether the phone was heard of`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    try store.write { rows in
      let (one, soon) = (try token(1), noon + .seconds(600))
      #expect(try rows.unheardStart(of: one, acceptedBy: soon) == nil)
      try rows.save(start(dinner, dinnerOfDennis))
      #expect(try rows.unheardStart(of: one, acceptedBy: soon) == nil, "not accepted yet")
      try rows.acceptStart(of: dinner, token: one, at: noon)
      #expect(try rows.unheardStart(of: one, acceptedBy: noon)?.sessionID == dinner)
      #expect(try rows.unheardStart(of: one, acceptedBy: noon - .milliseconds(1)) == nil)
      #expect(try rows.unheardStart(of: token(2), acceptedBy: soon) == nil)
      try register(7, .update, at: noon, in: rows)
      #expect(try rows.unheardStart(of: one, acceptedBy: soon) == nil, "its card has a token")
      let later = SessionID("cs_later")
      try rows.save(start(later, dinnerOfAlina))
      try rows.acceptStart(of: later, token: one, at: noon + .seconds(5))
      #expect(try rows.unheardStart(of: one, acceptedBy: soon)?.sessionID == later)
      try rows.save(
        PhoneReport(
          contextKey: dinnerOfAlina, userID: dennis, state: .active, rev: 1, reportedAt: soon))
      #expect(try rows.unheardStart(of: one, acceptedBy: soon) == nil, "the phone reported")
    }
  }
}

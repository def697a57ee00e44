import Pipeline
import Pushes
import Testing
import Vocabulary

/// What a second token does to the first: one row of the table of spec page 9, Registration.
struct Replacement: Sendable, CustomTestStringConvertible {
  let name: String
  let first: @Sendable () throws -> Registration
  let second: @Sendable () throws -> Registration
  let isReplaced: Bool

  var testDescription: String { name }

  init(
    _ name: String, replaced: Bool, _ first: @escaping @Sendable () throws -> Registration,
    _ second: @escaping @Sendable () throws -> Registration
  ) {
    self.name = name
    isReplaced = replaced
    self.first = first
    self.second = second
  }
}

private func update(
  _ number: UInt8, context: ContextKey? = dinnerOfDennis, activity: String? = nil,
  type: String? = nil, bundle: String? = nil, device: String? = "phone"
) throws -> Registration {
  Registration(
    userID: dennis, token: try token(number), kind: .update, contextKey: context,
    activityID: activity, attributesType: type, bundleID: bundle, deviceID: device,
    registeredAt: noon)
}

private func plain(
  _ number: UInt8, _ kind: TokenKind, type: String? = nil, device: String? = "phone"
) throws -> Registration {
  Registration(
    userID: dennis, token: try token(number), kind: kind, attributesType: type, deviceID: device,
    registeredAt: noon)
}

private let other = ContextKey("cooksuggest:cs_other:u_dennis")

private let replacements: [Replacement] = [
  .init("same context", replaced: true, { try update(1) }, { try update(2) }),
  .init("another context", replaced: false, { try update(1) }, { try update(2, context: other) }),
  // A start that went out twice made two cards of one context, each with a token of its own.
  .init(
    "same context, another activity id", replaced: false, { try update(1, activity: "A") },
    { try update(2, activity: "B") }),
  .init(
    "same activity id, another context", replaced: true, { try update(1, activity: "A") },
    { try update(2, context: other, activity: "A") }),
  .init(
    "same context, activity id known to the first only", replaced: true,
    { try update(1, activity: "A") }, { try update(2) }),
  .init(
    "same context, activity id known to the second only", replaced: true, { try update(1) },
    { try update(2, activity: "A") }),
  .init(
    "same activity id without context", replaced: true,
    { try update(1, context: nil, activity: "A") }, { try update(2, context: nil, activity: "A") }),
  .init(
    "same activity id, context known to the first only", replaced: true,
    { try update(1, activity: "A") }, { try update(2, context: nil, activity: "A") }),
  .init(
    "another activity id without context", replaced: false,
    { try update(1, context: nil, activity: "A") }, { try update(2, context: nil, activity: "B") }),
  .init(
    "no activity named at all", replaced: false, { try update(1, context: nil) },
    { try update(2, context: nil) }),
  .init(
    "another device", replaced: false, { try update(1) }, { try update(2, device: "tablet") }),
  .init(
    "second without device", replaced: false, { try update(1) }, { try update(2, device: nil) }),
  .init(
    "first without device", replaced: false, { try update(1, device: nil) }, { try update(2) }),
  .init("another bundle", replaced: false, { try update(1) }, { try update(2, bundle: "b") }),
  .init("another type", replaced: false, { try update(1) }, { try update(2, type: "T") }),
  .init("alert tokens", replaced: true, { try plain(1, .alert) }, { try plain(2, .alert) }),
  .init(
    "alert tokens without device", replaced: false, { try plain(1, .alert, device: nil) },
    { try plain(2, .alert, device: nil) }),
  .init(
    "another kind", replaced: false, { try plain(1, .alert) }, { try plain(2, .pushToStart) }),
  .init(
    "start tokens of one type", replaced: true, { try plain(1, .pushToStart, type: "T") },
    { try plain(2, .pushToStart, type: "T") }),
  .init(
    "start tokens of two types", replaced: false, { try plain(1, .pushToStart, type: "T") },
    { try plain(2, .pushToStart, type: "U") }),
]

@Suite struct ReplacementContract {
  @Test(arguments: StoreUnderTest.allCases, replacements)
  func `a new token replaces the old one of the same place only`(
    kind: StoreUnderTest, replacement: Replacement
  ) throws {
    let store = try kind.open()
    let found = try store.write { rows in
      try rows.register(replacement.first())
      try rows.register(replacement.second())
      return try rows.registrations(of: [token(1), token(2)])
    }
    #expect(found[try token(1)]?.isEmpty ?? true == replacement.isReplaced)
    #expect(found[try token(2)]?.count == 1)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a rotated token stays bound to the context of the one it replaces`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    try store.write { rows in
      try rows.register(update(1, activity: "A"))
      try rows.register(update(2, context: nil, activity: "A"))
      let bound = try rows.updateTokens(of: [dinnerOfDennis])[dinnerOfDennis] ?? []
      #expect(bound.map(\.token) == [try token(2)])
      #expect(try rows.contextKey(ofActivity: "A", of: dennis) == dinnerOfDennis)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `another user's tokens on a device of the same name stay`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try rows.register(
        Registration(
          userID: alina, token: token(1), kind: .alert, deviceID: "phone", registeredAt: noon))
      try rows.register(plain(2, .alert))
      #expect(try rows.tokens(of: [alina], kind: .alert)[alina]?.count == 1)
    }
  }
}

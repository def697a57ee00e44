import Pipeline
import Pushes
import Testing
import Vocabulary

@Suite struct TokenContract {
  @Test(arguments: StoreUnderTest.allCases)
  func `a registration comes back by user, context and token`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    let update = Registration(
      userID: dennis, token: try token(1), kind: .update, contextKey: dinnerOfDennis,
      activityID: "A1", attributesType: "Cook", environment: .sandbox, bundleID: "app.example",
      deviceID: "phone", frequentPushesEnabled: false, registeredAt: noon)
    let alert = Registration(
      userID: dennis, token: try token(2), kind: .alert, registeredAt: noon, provenAt: noon)
    try store.write { rows in
      try rows.register(update)
      try rows.register(alert)
    }
    try store.read { rows in
      #expect(
        try rows.updateTokens(of: [dinnerOfDennis, dinnerOfAlina]) == [dinnerOfDennis: [update]])
      #expect(try rows.tokens(of: [dennis, alina], kind: .alert) == [dennis: [alert]])
      #expect(try rows.tokens(of: [dennis], kind: .update) == [dennis: [update]])
      #expect(try rows.tokens(of: [dennis], kind: .pushToStart).isEmpty)
      let byToken = try rows.registrations(of: [token(1), token(2), token(3), token(1)])
      #expect(byToken == [try token(1): [update], try token(2): [alert]])
      #expect(try rows.contextKey(ofActivity: "A1", of: dennis) == dinnerOfDennis)
      #expect(try rows.contextKey(ofActivity: "A1", of: alina) == nil)
      #expect(try rows.contextKey(ofActivity: "A2", of: dennis) == nil)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `registering again refreshes the row and keeps what was left out`(kind: StoreUnderTest)
    throws
  {
    let store = try kind.open()
    var first = Registration(
      userID: dennis, token: try token(1), kind: .update, contextKey: dinnerOfDennis,
      activityID: "A1", bundleID: "app.example", deviceID: "phone", frequentPushesEnabled: true,
      registeredAt: noon)
    try store.write { rows in
      try rows.register(first)
      try rows.markProven(token(1), at: noon + .seconds(1))
      try rows.register(
        Registration(
          userID: dennis, token: token(1), kind: .update, frequentPushesEnabled: false,
          registeredAt: noon + .seconds(9)))
    }
    first.registeredAt = noon + .seconds(9)
    first.frequentPushesEnabled = false
    first.provenAt = noon + .seconds(1)
    #expect(try store.read { try $0.registrations(of: [token(1)]) } == [try token(1): [first]])
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `an earlier registration that arrives late does not set the row back in time`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    try store.write { rows in
      for moment in [noon, noon - .seconds(9)] {
        try rows.register(
          Registration(userID: dennis, token: token(1), kind: .alert, registeredAt: moment))
      }
      let rowsOfToken = try rows.registrations(of: [token(1)])[token(1)]
      #expect(rowsOfToken?.map(\.registeredAt) == [noon])
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `proof holds in its environment only`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    func provenAt() throws -> UnixTime? {
      try store.read { try $0.registrations(of: [token(1)])[token(1)]?.first?.provenAt }
    }
    func register(_ environment: PushEnvironment) throws {
      try store.write {
        try $0.register(
          Registration(
            userID: dennis, token: token(1), kind: .alert, environment: environment,
            registeredAt: noon))
      }
    }
    try register(.production)
    #expect(try provenAt() == nil)
    try store.write { try $0.markProven(token(1), at: noon) }
    try store.write { try $0.markProven(token(1), at: noon + .seconds(5)) }
    #expect(try provenAt() == noon)
    try register(.production)
    try store.write { try $0.moveToken(token(1), to: .production) }
    #expect(try provenAt() == noon)
    try store.write { try $0.moveToken(token(1), to: .sandbox) }
    #expect(try provenAt() == nil)
    try store.write { try $0.markProven(token(1), at: noon) }
    try register(.production)
    #expect(try provenAt() == nil)
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `unregistering takes the user's rows of the token, of one kind when asked`(
    kind: StoreUnderTest
  ) throws {
    let store = try kind.open()
    try store.write { rows in
      for type in ["Cook", "Shopping", nil] {
        try rows.register(
          Registration(
            userID: dennis, token: token(1), kind: .pushToStart, attributesType: type,
            registeredAt: noon))
      }
      try rows.register(
        Registration(userID: dennis, token: token(1), kind: .alert, registeredAt: noon))
      #expect(try rows.registrations(of: [token(1)])[token(1)]?.count == 4)
      let one = try token(1)
      #expect(try rows.unregister(one, of: alina, kind: nil, attributesType: nil) == 0)
      #expect(try rows.unregister(one, of: dennis, kind: .update, attributesType: nil) == 0)
      #expect(
        try rows.unregister(one, of: dennis, kind: .pushToStart, attributesType: "Cook") == 1)
      #expect(try rows.unregister(one, of: dennis, kind: .alert, attributesType: nil) == 1)
      #expect(try rows.unregister(one, of: dennis, kind: nil, attributesType: nil) == 2)
      #expect(try rows.registrations(of: [one]).isEmpty)
    }
  }

  @Test(arguments: StoreUnderTest.allCases)
  func `a token that another user registers leaves the user before`(kind: StoreUnderTest) throws {
    let store = try kind.open()
    try store.write { rows in
      try rows.register(
        Registration(userID: dennis, token: token(1), kind: .alert, registeredAt: noon))
      try rows.register(
        Registration(userID: dennis, token: token(2), kind: .alert, registeredAt: noon))
      try rows.register(
        Registration(userID: alina, token: token(1), kind: .alert, registeredAt: noon))
      let tokens = try rows.tokens(of: [dennis, alina], kind: .alert)
        .mapValues { $0.map(\.token) }
      #expect(tokens == [dennis: [try token(2)], alina: [try token(1)]])
    }
  }
}

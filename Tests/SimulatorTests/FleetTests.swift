import Simulator
import Testing
import Vocabulary

@Suite struct FleetTests {
  var fleet: Fleet
  let dennis: PhoneIdentity

  init() throws {
    fleet = Fleet(rules: try Making.rules(), seed: 3)
    dennis = try fleet.add(
      id: nil, userID: UserID("dennis"), name: "Dennis", environment: .production)
  }

  private mutating func start() -> LockScreenCard? {
    let push = Making.push(Making.start(), to: dennis.pushToStartToken, use: .pushToStart)
    _ = fleet.deliver(push, at: Making.now)
    return fleet.phones[dennis.id]?.cards.last
  }

  @Test mutating func `each phone of a user has its own id and tokens`() throws {
    let second = try fleet.add(
      id: nil, userID: UserID("dennis"), name: "Dennis", environment: .sandbox)
    #expect([dennis.id, second.id] == ["dennis-1", "dennis-2"])
    #expect(dennis.alertToken != second.alertToken)
    #expect(throws: SettingsError(["id: dennis-1 is taken, want a new one"])) {
      try fleet.add(id: "dennis-1", userID: UserID("x"), name: "X", environment: .sandbox)
    }
  }

  @Test func `a token of the other environment is unknown`() {
    #expect(fleet.standing(of: dennis.alertToken, in: .production) == .reachable(.alert))
    #expect(fleet.standing(of: dennis.alertToken, in: .sandbox) == .unknown)
    #expect(fleet.standing(of: dennis.pushToStartToken, in: nil) == .reachable(.pushToStart))
    #expect(fleet.standing(of: "abcd", in: nil) == .unknown)
  }

  @Test mutating func `an update token lives as long as its activity`() throws {
    let card = try #require(start())
    #expect(fleet.standing(of: card.updateToken, in: nil) == .reachable(.update))
    _ = fleet.deliver(
      Making.push(Making.update("end", rev: 2), to: card.updateToken), at: Making.now + .seconds(9))
    let dead = TokenStanding.unregistered(since: Making.now.milliseconds + 9000)
    #expect(fleet.standing(of: card.updateToken, in: nil) == dead)
    _ = fleet.pass(to: Making.now + .seconds(90_000))
    #expect(fleet.standing(of: card.updateToken, in: nil) == dead)
    #expect(fleet.standing(of: dennis.alertToken, in: nil) == .reachable(.alert))
  }

  @Test mutating func `an uninstalled app's tokens are all dead`() throws {
    let card = try #require(start())
    _ = fleet.act(on: dennis.id, at: Making.now) { phone, _ in
      phone.uninstall(at: Making.now)
      return []
    }
    for token in [dennis.alertToken, dennis.pushToStartToken, card.updateToken] {
      #expect(
        fleet.standing(of: token, in: nil) == .unregistered(since: Making.now.milliseconds))
    }
  }

  @Test mutating func `phones that are taken away leave dead tokens and room for others`() throws {
    let card = try #require(start())
    let other = try fleet.add(
      id: nil, userID: UserID("mara"), name: "Mara", environment: .sandbox)
    #expect(fleet.removePhones(ofUsersWith: "den", at: Making.now) == 1)
    #expect(fleet.phoneIDs == [other.id] && Array(fleet.phones.keys) == [other.id])
    let dead = TokenStanding.unregistered(since: Making.now.milliseconds)
    for token in [dennis.alertToken, dennis.pushToStartToken, card.updateToken] {
      #expect(fleet.standing(of: token, in: nil) == dead)
      #expect(fleet.standing(of: token, in: .sandbox) == .unknown)
    }
    #expect(fleet.standing(of: other.alertToken, in: .sandbox) == .reachable(.alert))
    #expect(fleet.pass(to: Making.now + .seconds(90_000)).isEmpty)
    #expect(
      try fleet.add(
        id: dennis.id, userID: UserID("dennis"), name: "Dennis", environment: .production
      ).alertToken != dennis.alertToken)
  }

  @Test mutating func `new tokens lead to the phone and the ones before are dead`() throws {
    let card = try #require(start())
    let calls = fleet.act(on: dennis.id, at: Making.now) { phone, mint in
      phone.rotateTokens(mint: &mint)
    }
    let phone = try #require(fleet.phones[dennis.id])
    let next = try #require(phone.cards.last)
    #expect(phone.identity.alertToken == dennis.alertToken)
    #expect(
      calls.map { $0.call.body["token"] } == [
        .string(dennis.alertToken), .string(phone.identity.pushToStartToken),
        .string(next.updateToken),
      ])
    for token in [dennis.pushToStartToken, card.updateToken] {
      #expect(
        fleet.standing(of: token, in: nil) == .unregistered(since: Making.now.milliseconds))
    }
    #expect(
      fleet.standing(of: phone.identity.pushToStartToken, in: nil) == .reachable(.pushToStart))
    #expect(fleet.standing(of: next.updateToken, in: nil) == .reachable(.update))
  }

  @Test mutating func `what a phone finds becomes a complaint with its names`() throws {
    _ = start()
    _ = start()
    let complaint = try #require(fleet.complaints.first)
    #expect(complaint.rule == .doubledStart)
    #expect(complaint.phone == "dennis-1")
    #expect(fleet.complaintCount == 1)
  }

  @Test mutating func `complaints are counted beyond those that are kept`() {
    for _ in 0...Fleet.complaintsMax {
      fleet.complain(Finding(.api, "x"), of: nil, apnsID: nil, at: Making.now)
    }
    #expect(fleet.complaints.count == Fleet.complaintsMax)
    #expect(fleet.complaintCount == Fleet.complaintsMax + 1)
  }

  @Test mutating func `a viewer is told only of phones that changed`() {
    let seen = fleet.changeNumber
    #expect(fleet.phones(changedAfter: seen, among: 10).isEmpty)
    _ = start()
    #expect(fleet.phones(changedAfter: seen, among: 10).map(\.identity.id) == ["dennis-1"])
    #expect(fleet.phones(changedAfter: seen, among: 0).isEmpty)
    _ = fleet.pass(to: Making.now)
    #expect(fleet.phones(changedAfter: fleet.changeNumber, among: 10).isEmpty)
  }
}

import ActivityContracts
import Simulator
import Testing
import Vocabulary

@Suite struct VirtualPhoneTests {
  var mint = TokenMint(seed: 7)
  var phone: VirtualPhone

  init() {
    phone = VirtualPhone(
      PhoneIdentity(
        id: "dennis-1", userID: UserID("dennis"), name: "Dennis", environment: .production,
        bundleID: Making.bundle, mint: &mint))
  }

  private mutating func start(_ session: String = "cs_abc", changes: [String: JSONValue?] = [:])
    -> [PhoneEffect]
  {
    let body = Making.start(session: session, changes: changes)
    let push = Making.push(body, to: phone.identity.pushToStartToken, use: .pushToStart)
    return phone.receive(push, at: Making.now, mint: &mint)
  }

  private mutating func receive(
    _ body: JSONValue, at moment: UnixTime = Making.now, expiration: PushExpiration = .appleDecides
  ) -> [PhoneEffect] {
    let token = phone.cards.last?.updateToken ?? ""
    let push = Making.push(body, to: token, expiration: expiration)
    return phone.receive(push, at: moment, mint: &mint)
  }

  private func rules(_ effects: [PhoneEffect]) -> [Finding.Rule] {
    effects.compactMap { if case .found(let finding) = $0 { finding.rule } else { nil } }
  }

  private func calls(_ effects: [PhoneEffect]) -> [PhoneCall] {
    effects.compactMap { if case .call(let call) = $0 { call } else { nil } }
  }

  @Test mutating func `a start shows one card and registers its update token`() throws {
    let effects = start()
    let card = try #require(phone.cards.first)
    #expect(phone.cards.count == 1)
    #expect(card.standing == .active)
    #expect(card.rev == 1)
    #expect(card.attributes["partnerEmoji"] == "🐠")
    #expect(TokenMint.activityDigits.contains(card.updateToken.utf8.count))
    let registration = try #require(calls(effects).first)
    #expect(registration.path == "/api/apns/register")
    #expect(registration.body["kind"] == "la-update")
    #expect(registration.body["token"] == .string(card.updateToken))
    #expect(registration.body["context_key"] == "cooksuggest:cs_abc:dennis")
    #expect(rules(effects).isEmpty)
  }

  @Test mutating func `a second start of one session is seen as a second card`() {
    _ = start()
    let second = start()
    #expect(rules(second) == [.doubledStart])
    #expect(phone.cards.count == 2)
    let other = start("cs_other")
    #expect(rules(other).isEmpty)
  }

  @Test(
    arguments: [
      (["attributes-type": "cookSuggestActivityAttributes"], .attributesType),
      (["attributes": ["sessionId": "cs_abc"]], .attributes),
      (["content-state": ["state": "answering"]], .contentState),
    ] as [([String: JSONValue?], Finding.Rule)])
  mutating func `a start that does not decode shows nothing`(
    changes: [String: JSONValue?], rule: Finding.Rule
  ) {
    let effects = start(changes: changes)
    #expect(rules(effects) == [rule])
    #expect(phone.cards.isEmpty)
    #expect(phone.counts.dropped == 1)
  }

  @Test(arguments: [
    (1, 0, 2, 0), (0, 0, 2, 0), (-1, 0, 1, 1),
    (1, -1, 1, 1),
  ])
  mutating func `an older stamp or an older rev changes nothing`(
    seconds: Int, revStep: Int, shown: Int, ignored: Int
  ) {
    _ = start(changes: ["content-state": Making.json(Making.state(1))])
    let moment = Making.now + .seconds(seconds)
    let rev = revStep < 0 ? 0 : 2
    let effects = receive(Making.update(rev: rev, at: moment))
    #expect(phone.cards[0].rev == shown)
    #expect(phone.counts.olderIgnored == ignored)
    // iOS itself holds back an older stamp; an older rev only the app does.
    #expect(rules(effects) == (revStep < 0 ? [.olderRev] : []))
  }

  @Test mutating func `an update that does not decode is dropped`() {
    _ = start()
    var state = Making.json(Making.state(2))
    if case .object(var members) = state {
      members["proposalCount"] = "3"
      state = .object(members)
    }
    let effects = receive(Making.update(changes: ["content-state": state]))
    #expect(rules(effects) == [.contentState])
    #expect(phone.cards[0].rev == 1)
  }

  @Test mutating func `a stamp more than 8 hours ahead is dropped`() {
    _ = start()
    _ = receive(Making.update(rev: 2, at: Making.now + .seconds(28_800)))
    #expect(phone.cards[0].rev == 2)
    _ = receive(Making.update(rev: 3, at: Making.now + .seconds(28_801)))
    #expect(phone.cards[0].rev == 2)
    #expect(phone.counts.dropped == 1)
  }

  @Test mutating func `a card goes stale at its date and news wake it`() {
    _ = start()
    let early = phone.pass(to: Making.now + .milliseconds(599_999))
    #expect(early.isEmpty)
    let effects = phone.pass(to: Making.now + .seconds(600))
    #expect(phone.cards[0].standing == .stale)
    #expect(calls(effects).first?.body["state"] == "stale")
    _ = receive(Making.update(rev: 2, at: Making.now + .seconds(601)))
    #expect(phone.cards[0].standing == .active)
  }

  @Test mutating func `an end shows the last state until its dismissal date`() {
    _ = start()
    let dismissal = ["dismissal-date": JSONValue.integer(Making.now.seconds + 120)]
    let end = Making.update("end", rev: 2, state: "decided", changes: dismissal)
    let effects = receive(end)
    #expect(phone.cards[0].standing == .ended)
    #expect(phone.cards[0].contentState["state"] == "decided")
    #expect(calls(effects).first?.body["state"] == "ended")
    _ = receive(Making.update(rev: 3, at: Making.now + .seconds(1)))
    #expect(phone.cards[0].rev == 2)
    _ = phone.pass(to: Making.now + .milliseconds(119_999))
    #expect(phone.cards[0].standing == .ended)
    _ = phone.pass(to: Making.now + .seconds(120))
    #expect(phone.cards[0].standing == .removed)
  }

  @Test mutating func `an end with a date in the past removes the card at once`() {
    _ = start()
    _ = receive(Making.update("end", rev: 2, changes: ["dismissal-date": 1]))
    #expect(phone.cards[0].standing == .removed)
  }

  @Test mutating func `an ended card stays 4 hours at most`() {
    _ = start()
    _ = receive(Making.update("end", rev: 2))
    _ = phone.pass(to: Making.now + .seconds(4 * 3600 - 1))
    #expect(phone.cards[0].standing == .ended)
    _ = phone.pass(to: Making.now + .seconds(4 * 3600))
    #expect(phone.cards[0].standing == .removed)
  }

  @Test mutating func `a card lives 8 hours`() {
    _ = start(changes: ["stale-date": .integer(Making.now.seconds + 40_000)])
    _ = phone.pass(to: Making.now + .seconds(28_799))
    #expect(phone.cards[0].standing == .active)
    _ = phone.pass(to: Making.now + .seconds(28_800))
    #expect(phone.cards[0].standing == .ended)
  }

  @Test mutating func `APNs keeps one push for an offline phone`() {
    _ = start()
    phone.goOffline()
    _ = receive(Making.update(rev: 2, at: Making.now + .seconds(1)))
    _ = receive(Making.update(rev: 3, at: Making.now + .seconds(2)))
    #expect(phone.cards[0].rev == 1)
    #expect(phone.counts.overwritten == 1)
    _ = phone.goOnline(at: Making.now + .seconds(3), mint: &mint)
    #expect(phone.cards[0].rev == 3)
    #expect(phone.held == nil)
  }

  @Test(
    arguments: [
      (.onceNow, false), (.at(Making.now.seconds + 60), false),
      (.at(Making.now.seconds + 61), true),
      (.appleDecides, true),
    ] as [(PushExpiration, Bool)])
  mutating func `a kept push is delivered until it expires`(
    expiration: PushExpiration, arrives: Bool
  ) {
    _ = start()
    phone.goOffline()
    _ = receive(Making.update(rev: 2), expiration: expiration)
    _ = phone.goOnline(at: Making.now + .seconds(60), mint: &mint)
    #expect((phone.cards[0].rev == 2) == arrives)
    #expect(phone.counts.expired == (arrives ? 0 : 1))
  }

  @Test mutating func `a dismissed card is reported and hears nothing more`() {
    _ = start()
    let effects = phone.dismiss(SessionID("cs_abc"), at: Making.now)
    #expect(calls(effects).first?.body["state"] == "dismissed")
    _ = receive(Making.update(rev: 2))
    #expect(phone.cards[0].standing == .dismissed)
    #expect(phone.cards[0].rev == 1)
    let again = phone.dismiss(nil, at: Making.now)
    #expect(again.isEmpty)
  }

  @Test mutating func `an uninstalled app receives nothing and says nothing`() {
    _ = start()
    phone.uninstall(at: Making.now)
    let effects = start("cs_new")
    #expect(effects.isEmpty)
    #expect(phone.cards.map(\.standing) == [.removed])
  }

  @Test mutating func `an alert shows one banner per collapse id and a resolve takes it away`() {
    for _ in 0..<2 {
      let push = Making.push(
        Making.alert, to: phone.identity.alertToken, use: .alert, type: .alert, collapseID: "k")
      _ = phone.receive(push, at: Making.now, mint: &mint)
    }
    #expect(phone.banners.map(\.link) == ["/cook-suggest/cs_abc"])
    let resolve: JSONValue = ["aps": ["content-available": 1], "resolve": "k"]
    _ = phone.receive(
      Making.push(resolve, use: .alert, type: .background), at: Making.now, mint: &mint)
    #expect(phone.banners.isEmpty)
  }

  @Test(arguments: [("id-1", []), ("id-2", [.doubledAlert])] as [(String, [Finding.Rule])])
  mutating func `an alert that comes again under a new id was sent twice`(
    second: String, found: [Finding.Rule]
  ) {
    var all: [PhoneEffect] = []
    for id in ["id-1", second] {
      let push = Making.push(
        Making.alert, use: .alert, type: .alert, apnsID: id, collapseID: "k")
      all += phone.receive(push, at: Making.now, mint: &mint)
    }
    #expect(rules(all) == found)
  }

  @Test mutating func `the Lock Screen keeps 20 banners`() {
    for number in 0..<21 {
      let push = Making.push(Making.alert, use: .alert, type: .alert, collapseID: "\(number)")
      _ = phone.receive(push, at: Making.now, mint: &mint)
    }
    #expect(phone.banners.count == 20)
    #expect(phone.banners.first?.collapseID == "20")
  }

  @Test mutating func `a card started by the app takes a push that left a moment before`() {
    let earlier = Making.now - .seconds(30)
    _ = phone.startLocally(
      Making.attributes(), showing: Making.state(1, updatedAt: earlier), staleAt: nil,
      at: Making.now, mint: &mint)
    _ = receive(Making.update(rev: 2, at: Making.now - .seconds(10)))
    #expect(phone.cards[0].origin == .local)
    #expect(phone.cards[0].rev == 2)
  }
}

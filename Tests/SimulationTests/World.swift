import Activities
import Cryptography
import Foundation
import HTTPAPI
import HTTPServing
import Pipeline
import Pushes
import ServiceRuntime
import Sessions
import Simulator
import Synchronization
import TestSupport
import Vocabulary

/// The whole of Lockstep in one thread: several processes of each role, a broker, a store, APNs,
/// phones and people, in an order that only the seed decides.
final class World {
  private static let steps = 220
  private static let sessionsMax = 2
  /// Turns until rest, at most: beyond it something runs in circles.
  static let turnsMax = 4000

  let chaos: Chaos
  /// Of the people, their phones and Apple.
  let time = ManualTime()
  /// Of Lockstep's processes.
  let clock: ServerClock
  let cast: Cast
  let limits: SessionLimits
  let broker: FakeBroker
  let ledger = Ledger()
  let airwaves: Airwaves
  let broken: BrokenRule?
  let tables = InMemoryStore()
  var processes: [Process] = []
  private var apis: [(life: Life, api: API)] = []
  var people: People!
  /// Nil in a world without activities.
  private(set) var shop: Shop?
  /// Nil in a world of iPhones alone.
  let others: OtherPhones?
  private var begun = 0
  private let sessionIDs: SessionIDs

  init(
    seed: UInt64, broken: BrokenRule? = nil, cast: Cast = [], keepsStory: Bool = false
  ) throws {
    let hasActivities = cast.contains(.activities)
    self.cast = cast
    let life: (ttl: Duration, most: Duration) =
      cast.contains(.shortLives)
      ? (.seconds(180), .seconds(600)) : (.seconds(45 * 60), .seconds(90 * 60))
    limits = SessionLimits(ttl: life.ttl, lifeMax: life.most, jobTime: .seconds(120))
    clock = ServerClock(time)
    chaos = Chaos(seed: seed, keepsStory: keepsStory)
    self.broken = broken
    sessionIDs = SessionIDs(seed: seed)
    broker = FakeBroker(time: time)
    broker.onStored = { [ledger] in ledger.stored($0) }
    var fleet = Fleet(rules: try Keys.rules(), seed: seed)
    for (user, name) in [(Samples.dennis, "d1"), (Samples.mara, "m1"), (Samples.mara, "m2")] {
      _ = try fleet.add(
        id: name, userID: user.userID, name: user.name ?? "", environment: .production)
    }
    if hasActivities {
      for name in ["s1", "s2"] {
        _ = try fleet.add(
          id: name, userID: Shop.customer, name: "Sina", environment: .production,
          app: ShinyContract())
      }
    }
    others =
      cast.contains(.otherPhones)
      ? OtherPhones(
        seed: seed, vapidKey: Keys.vapid.first.id, time: time, chaos: chaos,
        isSlow: cast.contains(.slowWays)) : nil
    airwaves = Airwaves(fleet: fleet, bundleID: Samples.bundle, time: time, chaos: chaos)
    people = People(in: self)
    if hasActivities { shop = Shop(in: self, people) }
    airwaves.onCalls = { [unowned self] in $0.forEach(people.tell) }
    var copies = Process.copies + (others == nil ? [] : Process.otherCopies)
    if cast.contains(.slowWays) { copies += Process.otherCopies }
    processes = copies.enumerated().map { Process($1, number: $0, in: self) }
    apis = (0..<2).map { newAPI($0) }
    chaos.onInterlude = { [unowned self] in interlude() }
  }

  // MARK: Ports

  func store(for life: Life, _ kind: ProcessKind) -> MortalStore {
    MortalStore(
      tables, life: life, kind: kind, chaos: chaos, ledger: ledger, broken: broken)
  }

  func link(
    to stage: StageName?, life: Life, onAcknowledged: @escaping (DeliveryTag) -> Void
  ) -> MortalLink {
    MortalLink(
      stage.map { broker.link(to: $0) } ?? broker.publisher(), of: broker, life: life,
      chaos: chaos, broken: broken, onAcknowledged: onAcknowledged)
  }

  private func newAPI(_ number: Int) -> (Life, API) {
    let life = Life("api-\(number)", chaos: chaos)
    let api = API(
      store: store(for: life, .api), keys: Keys.users, time: clock, settings: apiSettings,
      log: .discarding, metrics: Metrics(), outbox: OutboxGate(), onCommit: {},
      newSessionID: { [sessionIDs] in sessionIDs.next() })
    return (life, api)
  }

  private var apiSettings: APISettings {
    var settings = APISettings(
      session: limits, requestsPerSecond: 10_000, requestBurst: 10_000)
    guard others != nil else { return settings }
    settings.webPush = WebPushOffer(publicKey: Keys.vapid.first.id, services: Keys.pushServices)
    settings.fcmPackages = [OtherPhones.package]
    return settings
  }

  /// Nil when the API died over it.
  func answer(_ call: People.Call, undisturbed: Bool = false) -> HTTPResponse? {
    let wasOn = chaos.isOn
    if undisturbed { chaos.isOn = false }
    defer { chaos.isOn = wasOn }
    guard let target = RequestTarget(call.target),
      let place = apis.indices.filter({ !apis[$0].life.isBusy }).randomElement(using: &chaos.random)
    else { return nil }
    let (life, api) = apis[place]
    var headers = [("authorization", Keys.bearer(of: call.user))]
    if let key = call.key { headers.append(("idempotency-key", key)) }
    life.isBusy = true
    let response = api.handle(
      HTTPRequest(
        method: call.method, target: target, headers: headers.map { (name: $0.0, value: $0.1) },
        body: call.method == "GET" ? Data() : call.body.encoded))
    life.isBusy = false
    guard life.isOver else { return response }
    apis[place] = newAPI(place)
    return nil
  }

  // MARK: Time goes on

  /// Plays the whole story.
  ///
  /// - Returns: what was found wrong, in words.
  func play() throws -> [String] {
    people.introduceThemselves()
    for _ in 0..<Self.steps {
      if shop != nil, chaos.number(in: 0...5) == 0 { shop?.act() } else { step() }
    }
    chaos.note("faults stop")
    stopFaults()
    var problems = settle() ? [] : ["does not come to rest"]
    problems += try Invariants(self, people).problems()
    // Every session that goes on runs out now.
    time.advance(by: limits.lifeMax)
    if shop != nil { time.advance(by: Shop.lifeMax) }
    // What began while the clock was ahead ends later.
    if cast.contains(.wrongClock) { time.advance(by: Self.clockErrorMax) }
    if !settle() { problems.append("does not come to rest after the sessions ran out") }
    problems += try Invariants(self, people).problems(isOver: true)
    chaos.note("\(time.elapsed())")
    return ledger.violations + problems
  }

  private func step() {
    switch chaos.number(in: 0...31) {
    case 0:
      if begun < Self.sessionsMax {
        begun += 1
        people.begin()
      } else {
        people.act()
      }
    case 1...4: people.act()
    case 5: people.cook()
    case 6: _ = people.callAgain()
    case 7, 8: _ = people.phoneCalls()
    case 9: _ = people.startOwnCard()
    case 10...21: anyProcess()
    case 22, 23: pass(.milliseconds(chaos.number(in: 1...4000)))
    case 24: pass(.seconds(chaos.strikes(onceIn: 8) ? 2400 : chaos.number(in: 1...130)))
    case 25: broker.shuffle(anyQueue, using: &chaos.random)
    case 26: broker.duplicate(in: anyQueue, at: chaos.number(in: 0...2))
    case 27, 28: breakSomething()
    case 29: changePhone()
    default: _ = people.phoneCalls()
    }
  }

  /// In the middle of what somebody does.
  private func interlude() {
    switch chaos.number(in: 0...7) {
    case 0: people.act()
    case 1: _ = people.phoneCalls()
    case 2: pass(.milliseconds(chaos.number(in: 1...2000)))
    case 3: people.cook()
    default: anyProcess()
    }
  }

  private var anyQueue: String {
    let queues = ["build", "apns", "notify"] + (others == nil ? [] : ["webpush", "fcm"])
    return queues[chaos.number(in: 0...queues.count - 1)]
  }

  private func anyProcess() {
    let place = chaos.number(in: 0...processes.count - 1)
    _ = turn(place)
  }

  func turn(_ place: Int) -> Bool {
    let process = processes[place]
    let happened = process.turn()
    if process.life.isOver, !process.life.isBusy { replace(place) }
    return happened
  }

  private func replace(_ place: Int) {
    processes[place] = Process(processes[place].kind, number: place, in: self)
  }

  func pass(_ span: Duration) {
    // What is on its way arrives meanwhile.
    for part in [min(span, Airwaves.underWayMax), max(.zero, span - Airwaves.underWayMax)] {
      time.advance(by: part)
      airwaves.ether.pass()
      others?.ether.pass()
    }
    airwaves.age()
  }

  private func breakSomething() {
    let place = chaos.number(in: 0...processes.count - 1)
    switch chaos.number(in: 0...9) {
    case 0: broker.loseConnections()
    case 1: broker.isDown.toggle()
    case 2: broker.isBlocked.toggle()
    case 3:
      let refuses = chaos.strikes(onceIn: 2)
      broker.refusal = { [chaos] _ in
        refuses && chaos.strikes(onceIn: 3) ? "the queue is full" : nil
      }
    case 4: setClock()
    case 5, 6:
      guard !processes[place].life.isBusy else { return }
      processes[place].stop(time: time)
      replace(place)
    default:
      guard !processes[place].life.isBusy else { return }
      processes[place].kill()
      replace(place)
    }
  }

  /// How wrong the clock gets, either way.
  private static let clockErrorMax: Duration = .seconds(7200)

  private func setClock() {
    guard cast.contains(.wrongClock) else {
      return time.step(by: .seconds(chaos.number(in: 0...60)))
    }
    let most = Int(Self.clockErrorMax.components.seconds)
    let error = chaos.strikes(onceIn: 3) ? 0 : chaos.number(in: -most...most)
    chaos.note("the clock is \(error) s ahead")
    clock.set(ahead: .seconds(error))
  }

  private func changePhone() {
    if let others, chaos.number(in: 0...1) == 0 { return people.change(others) }
    guard let phone = chaos.pick(among: airwaves.fleet.phoneIDs) else { return }
    switch chaos.number(in: 0...(cast.contains(.newTokens) ? 9 : 7)) {
    case 0...2: airwaves.goOffline(phone)
    case 3, 4: airwaves.goOnline(phone)
    case 5, 6: people.openApp()
    case 7...8 where cast.contains(.newTokens): people.renewTokens(of: phone)
    default: people.dismissCard()
    }
  }
}

/// Ids that only the seed decides: their order decides what comes first.
private final class SessionIDs: Sendable {
  private let random: Mutex<SeededRandom>

  init(seed: UInt64) { random = Mutex(SeededRandom(seed: ~seed)) }

  func next() -> SessionID { SessionID("cs_\(String(random.withLock { $0.next() }, radix: 36))") }
}

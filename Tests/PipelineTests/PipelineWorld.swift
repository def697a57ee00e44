import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Sessions
import TestSupport
import Vocabulary

/// The whole pipeline in one thread, on fakes, in an order that only the seed decides: outbox,
/// relay, builder, notifier, sender, phones. While there is chaos, connections break, commits fail,
/// deliveries come twice and in any order, pushes fail, the sender is killed.
final class PipelineWorld {
  /// What reached a phone.
  struct Arrival {
    let request: PushRequest
    /// Whether the sender heard of it.
    let isAnswered: Bool
  }

  let time = ManualTime()
  let storeSwitch = StoreSwitch()
  let store: InMemoryStore
  let broker: FakeBroker
  var random: SeededRandom
  var stories: [CookStory] = []
  private(set) var arrivals: [Arrival] = []
  private(set) var overlaps: [PushToken] = []
  private(set) var kills = 0

  private let relayLink: FakeLink
  private let relay: OutboxRelay
  private let builder: Worker
  private let notifier: Worker
  private var sender: Worker
  private var transport = ScriptedTransport()
  private let metrics = Metrics()
  private var isChaotic = true
  /// Phones that have a card by now and will register its token some time.
  private var comingTokens: [Registration] = []

  init(seed: UInt64) throws {
    random = SeededRandom(seed: seed)
    store = storeSwitch.store()
    broker = FakeBroker(time: time)
    relayLink = broker.publisher()
    relay = OutboxRelay(
      store: store, publisher: relayLink, eventsExchange: "events", time: time, log: .discarding,
      metrics: metrics)
    let pushes = Samples.routes[.apns]
    func worker(_ stage: any Stage, _ broker: FakeBroker, _ time: ManualTime, _ metrics: Metrics)
      -> Worker
    {
      Worker(
        route: Samples.routes[stage.name], link: broker.link(to: stage.name), stage: stage,
        time: time, log: .discarding, metrics: metrics)
    }
    builder = worker(
      PayloadBuilder(store: store, pushes: pushes, time: time), broker, time, metrics)
    notifier = worker(
      Notifier(
        store: store, pushes: pushes, time: time, metrics: NotificationMetrics(metrics)),
      broker, time, metrics)
    sender = worker(
      APNsSender(
        store: store, pushes: pushes, transport: transport, bundleID: Samples.bundle, time: time,
        log: .discarding, metrics: metrics), broker, time, metrics)
    transport.answer = { [unowned self] in answer($0) }
  }

  // MARK: People and phones

  func begin(_ id: String) throws {
    let story = try CookStory(id: id, at: time.now())
    stories.append(story)
    try store.write { try $0.append(story.last) }
    let own = Samples.registration(
      updateToken(Samples.dennis, 0, story), of: Samples.dennis.userID, .update,
      context: story.context(Samples.dennis), at: time.now())
    comingTokens.append(own)
  }

  func register(_ registration: Registration) throws {
    try store.write { transaction in
      try transaction.register(registration)
      try transaction.append(Event.registered(registration, at: self.time.now()))
    }
  }

  func startToken(_ device: Int) -> PushToken { Samples.token(100 + device) }

  private func updateToken(_ owner: Profile, _ device: Int, _ story: CookStory) -> PushToken {
    let number = stories.firstIndex { $0.session.id == story.session.id } ?? 0
    let side = owner.userID == Samples.mara.userID ? 10 : 0
    return Samples.token(1000 + number * 100 + side + device)
  }

  /// Somebody does something, or the kitchen answers.
  func mutate() throws {
    guard let place = stories.indices.randomElement(using: &random) else { return }
    let actor = Bool.random(using: &random) ? Samples.dennis : Samples.mara
    let proposal = ProposalID(Bool.random(using: &random) ? "p_1" : "p_2")
    var choices: [Mutation] = [
      .ready(true), .ready(true), .join, .pick(proposal), .confirm(proposal),
    ]
    if random.happens(onceIn: 12) { choices = [.leave, .cancel] }
    if let job = stories[place].session.jobInHand {
      let dishes = ["p_1", "p_2"].map { Proposal(id: ProposalID($0), title: "Gericht \($0)") }
      choices = [
        job.kind == .proposals
          ? .proposals(job.jobID, dishes) : .decision(job.jobID, title: "Gericht")
      ]
    }
    guard let mutation = choices.randomElement(using: &random) else { return }
    do {
      let event = try stories[place].go(mutation, by: actor, at: time.now())
      try store.write { try $0.append(event) }
    } catch is Refusal {
      return
    } catch is CookStory.NothingChanged {
      return
    }
  }

  private func phonesAct() throws -> Bool {
    guard !comingTokens.isEmpty, !storeSwitch.isAway else { return false }
    try register(comingTokens.remove(at: Int.random(in: comingTokens.indices, using: &random)))
    return true
  }

  // MARK: APNs

  private func answer(_ request: PushRequest) -> PushOutcome? {
    guard isChaotic else { return arrive(request, isAnswered: true) }
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<5: return nil
    case 5: return .status(503, "ServiceUnavailable")
    case 6: return .neverProcessed(because: "GOAWAY")
    case 7: return .unanswered(because: "connection lost before it arrived")
    case 8:
      arrive(request, isAnswered: false)
      return .unanswered(because: "connection lost after it arrived")
    default: return arrive(request, isAnswered: true)
    }
  }

  @discardableResult
  private func arrive(_ request: PushRequest, isAnswered: Bool) -> PushOutcome {
    arrivals.append(Arrival(request: request, isAnswered: isAnswered))
    // A start that arrives puts a card on the phone, whose token comes later.
    if let device = (0..<2).first(where: { startToken($0) == request.token }),
      let story = stories.first(where: { request.collapseID == "start:\($0.session.id)" })
    {
      let token = updateToken(Samples.mara, device, story)
      comingTokens.append(
        Samples.registration(
          token, of: Samples.mara.userID, .update, context: story.context(Samples.mara),
          at: time.now()))
    }
    return .status(200)
  }

  // MARK: Time goes on

  /// One step of whatever the seed picks.
  func step() throws {
    switch Int.random(in: 0..<14, using: &random) {
    case 0, 1: if !storeSwitch.isAway { try mutate() }
    case 2: relayTurn()
    case 3: turn(builder)
    case 4: turn(notifier)
    case 5, 6, 7: turn(sender)
    case 8: time.advance(by: .milliseconds(Int.random(in: 1...8000, using: &random)))
    case 9: _ = try phonesAct()
    case 10: broker.shuffle(randomQueue(), using: &random)
    case 11: broker.duplicate(in: randomQueue(), at: 0)
    case 12: storeSwitch.isAway = random.happens(onceIn: 4)
    default: breakSomething()
    }
  }

  private func randomQueue() -> String {
    ["build", "apns", "notify"].randomElement(using: &random) ?? "apns"
  }

  private func breakSomething() {
    switch Int.random(in: 0..<3, using: &random) {
    case 0: broker.loseConnections()
    case 1: broker.messagesStoredBeforeLoss = Int.random(in: 0..<3, using: &random)
    default: killSender()
    }
  }

  /// SIGKILL: nothing is settled, and of what was in flight some has arrived.
  private func killSender() {
    kills += 1
    overlaps += transport.overlaps
    for request in transport.unanswered where Bool.random(using: &random) {
      arrive(request, isAnswered: false)
    }
    broker.loseConnections()
    transport = ScriptedTransport()
    transport.answer = { [unowned self] in answer($0) }
    sender = Worker(
      route: Samples.routes[.apns], link: broker.link(to: .apns),
      stage: APNsSender(
        store: store, pushes: Samples.routes[.apns], transport: transport,
        bundleID: Samples.bundle, time: time, log: .discarding, metrics: metrics),
      time: time, log: .discarding, metrics: metrics)
  }

  /// Chaos ends; goes on until nothing is left to do.
  ///
  /// - Returns: false when it does not come to rest.
  func settle() throws -> Bool {
    isChaotic = false
    storeSwitch.isAway = false
    broker.messagesStoredBeforeLoss = nil
    for _ in 0..<2000 {
      let turns = [relayTurn(), turn(builder), turn(notifier), turn(sender), try phonesAct()]
      if turns.contains(true) { continue }
      let waiting = try store.read { try $0.outboxDepth().events }
      if let due = broker.nextDue {
        time.advance(by: max(due - time.elapsed(), .zero))
      } else if waiting > 0 {
        time.advance(by: OutboxRelay.lease)
      } else {
        overlaps += transport.overlaps
        return true
      }
    }
    return false
  }

  @discardableResult
  private func relayTurn() -> Bool {
    do {
      return try relay.turn() > 0
    } catch {
      if error is BrokerLost { relayLink.close() }
      return true
    }
  }

  @discardableResult
  private func turn(_ worker: Worker) -> Bool {
    do {
      return try worker.turn()
    } catch {
      _ = worker.lost(error)
      return true
    }
  }
}

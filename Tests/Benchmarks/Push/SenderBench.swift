import APNsTransport
import Foundation
import Pipeline
import Pushes
import RabbitMQBroker
import SQLiteStore
import ServiceRuntime
import Vocabulary

/// Our whole sender: takes jobs from a queue, looks again, pushes, records, acknowledges.
struct SenderBench {
  /// Of one publish, confirmed together.
  private static let window = 1000
  private static let user = UserID("u_bench")
  private static let session = SessionID("cs_bench")

  private let server: Server
  private let pushes: Int
  private let address: BrokerAddress
  private let topology: Topology
  private let store: SQLiteStore
  private let payload: Data

  init(
    _ server: Server, pushes: Int, brokerURL: String, queuesFile: String, directory: String
  ) throws {
    self.server = server
    self.pushes = pushes
    address = try BrokerAddress(url: brokerURL)
    topology = try Topology(file: queuesFile)
    store = try SQLiteStore(path: directory + "/bench.sqlite")
    payload = try Pushing.payload()
  }

  func run() throws {
    let time = SystemTime()
    try RabbitMQTopology.apply(topology, at: address, time: time)
    try fill()
    let metrics = Metrics()
    let transport = try Pushing.transport(to: server, metrics: metrics)
    let route = topology.routes[.apns]
    let link = RabbitMQLink(
      address, queue: route.queue, prefetch: route.prefetch, name: "bench", time: time,
      log: .discarding)
    let sender = APNsSender(
      store: store, pushes: route, transport: transport, bundleID: Pushing.bundle, time: time,
      log: .discarding, metrics: metrics)
    let stage = CountingStage(sender)
    let worker = Worker(
      route: route, link: link, stage: stage, time: time, log: .discarding, metrics: metrics)
    let meter = Meter()
    let startMemory = Meter.resident_MiB
    var memoryMost = 0.0
    var inHandMost = 0
    var turns = 0
    while stage.done < pushes {
      let happened = try worker.turn()
      turns += 1
      inHandMost = max(inHandMost, worker.inHand)
      if turns % 64 == 0 { memoryMost = max(memoryMost, Meter.resident_MiB) }
      if !happened { Poll.wait(worker.descriptors, atMost: .milliseconds(100)) }
    }
    let used = meter.reading()
    used.report(
      "sender", pushes: pushes,
      [
        "turns": Double(turns), "recorded": Double(try recorded()),
        "in_hand_most": Double(inHandMost),
        "resident_start_mib": startMemory, "resident_most_mib": max(memoryMost, startMemory),
      ])
    transport.close()
    link.close()
  }

  /// How many are recorded as accepted.
  private func recorded() throws -> Int {
    try store.read { try $0.deliveries(of: Self.session) }.count { $0.status == 200 }
  }

  /// Registers the tokens, then puts the jobs into the queue.
  private func fill() throws {
    let now = SystemTime().now()
    let publisher = RabbitMQPublisher(
      address, name: "bench-filler", time: SystemTime(), log: .discarding)
    try publisher.open()
    for first in stride(from: 0, to: pushes, by: Self.window) {
      let numbers = first..<min(first + Self.window, pushes)
      let jobs = try numbers.map { try job($0, now: now) }
      try store.write { transaction in
        for job in jobs {
          try transaction.register(
            Registration(
              userID: Self.user, token: job.token, kind: .update, contextKey: job.contextKey,
              registeredAt: now, provenAt: now))
        }
        try transaction.save(jobs.compactMap(state))
      }
      let route = topology.routes[.apns]
      let outcomes = try publisher.publish(
        jobs.map {
          OutgoingMessage(
            exchange: route.exchange, routingKey: route.routingKey, message: $0.message)
        })
      guard outcomes.allSatisfy({ $0 == .confirmed }) else {
        throw TransportBench.Refused(description: "the queue did not take all jobs")
      }
    }
    publisher.close()
  }

  /// The state that the job carries: the newest of its activity.
  private func state(of job: PushJob) -> ActivityState? {
    job.contextKey.map { context in
      ActivityState(
        contextKey: context, sessionID: Self.session, userID: Self.user, rev: job.rev,
        event: .update, contentState: payload, attributesType: "CookSuggestActivityAttributes",
        attributes: nil, alertTitle: nil, alertBody: nil, staleAt: job.deadline, dismissAt: nil,
        deadline: job.deadline, causedAt: job.causedAt, traceparent: nil)
    }
  }

  private func job(_ number: Int, now: UnixTime) throws -> PushJob {
    PushJob(
      id: Pushing.apnsID(number), event: .update, sessionID: Self.session, userID: Self.user,
      contextKey: ContextKey("cook:\(number):u_bench"), rev: 7, token: try Pushing.token(number),
      environment: .production,
      bundleID: nil, collapseID: nil, deadline: now + .seconds(3600), causedAt: now,
      traceparent: nil, payload: payload)
  }
}

/// The sender, with what it settled counted.
private final class CountingStage: Stage {
  private let stage: APNsSender
  private(set) var done = 0

  init(_ stage: APNsSender) { self.stage = stage }

  var name: StageName { stage.name }
  var capacity: Int { stage.capacity }
  var inHand: Int { stage.inHand }
  var descriptors: [(descriptor: Int32, events: Int16)] { stage.descriptors }

  func take(_ deliveries: [Delivery]) throws -> [Settlement] {
    count(try stage.take(deliveries))
  }

  func advance() throws -> [Settlement] { count(try stage.advance()) }
  func forgetWaiting() { stage.forgetWaiting() }
  func giveUpWaiting() -> [Delivery] { stage.giveUpWaiting() }

  private func count(_ settlements: [Settlement]) -> [Settlement] {
    done += settlements.count { $0.disposition == .done }
    return settlements
  }
}

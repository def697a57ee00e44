import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Vocabulary

/// What `Tests/Benchmarks/workers` runs of ours: one message in, two out, each in the worker loop.
/// Each prints one line of JSON.
struct WorkersBench {
  private let address: BrokerAddress
  private let topology: Topology
  private let messages: Int

  init(brokerURL: String, queuesFile: String, messages: Int) throws {
    address = try BrokerAddress(url: brokerURL)
    topology = try Topology(file: queuesFile)
    self.messages = messages
  }

  /// Declares the topology and publishes the events from `first` on.
  func fill(from first: Int) throws {
    try RabbitMQTopology.apply(topology, at: address, time: SystemTime())
    try BuildEvents.publish(first..<messages, to: address, topology)
  }

  /// The worker loop with a stage that does nothing else.
  func loop() throws {
    let body = try Pushing.payload()
    try run("loop", TwoForOne(pushes: topology.routes[.apns], body: body))
  }

  /// The whole payload-builder, its store in `directory`.
  func builder(directory: String) throws {
    let store = try openBenchStore(in: directory)
    try BuildEvents.registerTokens(in: store)
    let stage = PayloadBuilder(store: store, pushes: topology.routes[.apns], time: SystemTime())
    try run("builder", stage)
  }

  private func run(_ name: String, _ inner: any Stage) throws {
    let stage = CountedStage(inner)
    let route = topology.routes[.build]
    let link = RabbitMQLink(
      address, queue: route.queue, prefetch: route.prefetch, name: "bench", time: SystemTime(),
      log: .discarding)
    let worker = Worker(
      route: route, link: link, stage: stage, time: SystemTime(), log: .discarding,
      metrics: Metrics())
    let meter = Meter()
    var memory = MemoryCurve()
    // Done is what is acknowledged, as with the forwarder.
    while stage.done < messages || worker.inHand > 0 {
      let happened = try worker.turn()
      memory.look(share: Double(stage.done) / Double(messages))
      if let defect = worker.defect { throw TransportBench.Refused(description: defect) }
      if !happened { Poll.wait(worker.descriptors, atMost: .milliseconds(100)) }
    }
    let used = meter.reading()
    link.close()
    let seconds = used.wall / .seconds(1)
    let values: [(String, Double)] = [
      ("messages", Double(messages)), ("jobs", Double(stage.jobs)), ("seconds", seconds),
      ("per_second", Double(messages) / seconds),
      ("cpu_us_per_message", used.cpu / .microseconds(1) / Double(messages)),
      ("resident_early_mib", memory.early), ("resident_most_mib", memory.most),
    ]
    let members = values.map { "\"\($0)\":\(($1 * 100).rounded() / 100)" }
    print("{\"name\":\"\(name)\"," + members.joined(separator: ",") + "}")
    fflush(nil)
  }
}

/// How much memory was resident, in MiB: after a tenth of the work, and at most.
private struct MemoryCurve {
  private(set) var early = 0.0
  private(set) var most = 0.0

  mutating func look(share: Double) {
    let now = Meter.resident_MiB
    most = max(most, now)
    if share < 0.1 { early = most }
  }
}

/// Two messages of a job's size for each that comes.
private final class TwoForOne: Stage {
  let name = StageName.build
  let isRepeatable = true
  private let outgoing: (Delivery) -> [OutgoingMessage]

  init(pushes: StageRoute, body: Data) {
    outgoing = { delivery in
      (1...2).map { number in
        OutgoingMessage(
          exchange: pushes.exchange, routingKey: pushes.routingKey,
          message: Message(
            id: "\(delivery.message.id)-\(number)", type: "push.update",
            contentType: "application/json", body: body))
      }
    }
  }

  func take(_ deliveries: [Delivery]) -> [Settlement] {
    deliveries.map { Settlement($0, .done, outgoing: outgoing($0)) }
  }
}

/// Counts what another stage settles.
private final class CountedStage: Stage {
  private let inner: any Stage
  private(set) var done = 0
  private(set) var jobs = 0

  init(_ inner: any Stage) { self.inner = inner }

  var name: StageName { inner.name }
  var isRepeatable: Bool { inner.isRepeatable }

  func take(_ deliveries: [Delivery]) throws -> [Settlement] {
    let settlements = try inner.take(deliveries)
    done += settlements.count { $0.disposition == .done }
    jobs += settlements.reduce(0) { $0 + $1.outgoing.count }
    return settlements
  }
}

import APNsTransport
import Foundation
import Pipeline
import Pushes
import RabbitMQBroker
import ServiceRuntime
import Vocabulary

/// The queue and the store that a sender works on.
struct SenderPlace {
  let address: BrokerAddress
  let topology: Topology
  let store: any Store

  init(brokerURL: String, queuesFile: String, directory: String) throws {
    address = try BrokerAddress(url: brokerURL)
    topology = try Topology(file: queuesFile)
    store = try openBenchStore(in: directory)
    try RabbitMQTopology.apply(topology, at: address, time: SystemTime())
  }

  var route: StageRoute { topology.routes[.apns] }
}

/// Our whole sender: takes jobs from a queue, looks again, pushes, records, acknowledges.
struct SenderBench {
  /// Resident memory is noted this often over a run, evenly by pushes.
  private static let memoryPoints = 10

  private let place: SenderPlace
  private let server: Server
  private let pushes: Int

  init(_ place: SenderPlace, server: Server, pushes: Int) {
    self.place = place
    self.server = server
    self.pushes = pushes
  }

  func run() throws {
    let time = SystemTime()
    let metrics = Metrics()
    let transport = try Pushing.transport(to: server, metrics: metrics)
    let link = RabbitMQLink(
      place.address, queue: place.route.queue, prefetch: place.route.prefetch, name: "bench",
      time: time, log: .discarding)
    let sender = APNsSender(
      store: place.store, pushes: place.route, transport: transport, bundleID: Pushing.bundle,
      time: time, log: .discarding, metrics: metrics)
    let stage = CountingStage(sender)
    let worker = Worker(
      route: place.route, link: link, stage: stage, time: time, log: .discarding,
      metrics: metrics)
    let meter = Meter()
    var memory: [Double] = []
    var inHandMost = 0
    var turns = 0
    while stage.done < pushes {
      let happened = try worker.turn()
      turns += 1
      inHandMost = max(inHandMost, worker.inHand)
      if stage.done * Self.memoryPoints >= pushes * (memory.count + 1) {
        memory.append(Meter.resident_MiB)
      }
      if !happened { Poll.wait(worker.descriptors, atMost: .milliseconds(100)) }
    }
    let used = meter.reading()
    used.report(
      "sender", pushes: pushes,
      [
        "turns": Double(turns), "recorded": Double(try recorded()),
        "in_hand_most": Double(inHandMost),
      ], memory: memory)
    transport.close()
    link.close()
  }

  /// How many are recorded as accepted.
  private func recorded() throws -> Int {
    try place.store.read { try $0.deliveries(of: SenderJobs.session) }.count { $0.status == 200 }
  }
}

/// The sender, with what it settled counted.
private final class CountingStage: Stage {
  private let stage: APNsSender
  private(set) var done = 0

  init(_ stage: APNsSender) { self.stage = stage }

  var name: StageName { stage.name }
  var isRepeatable: Bool { stage.isRepeatable }
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

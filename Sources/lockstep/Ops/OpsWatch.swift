import Foundation
import HTTPClient
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Synchronization
import Vocabulary

/// Looks at the queues and at the senders' lanes every two seconds, for whoever opens the page.
final class OpsWatch: Sendable {
  private static let every: Duration = .seconds(2)
  /// For one sender to tell its lanes.
  private static let laneWait: Duration = .seconds(1)

  private let topology: Topology
  private let senders: [String]
  private let picture = Mutex(OpsPicture())

  /// `senders`: admin addresses, `host:port`.
  init(_ topology: Topology, senders: [String]) {
    self.topology = topology
    self.senders = senders
  }

  func json(now: UnixTime) -> JSONValue {
    picture.withLock { $0.json(topology, now: now) }
  }

  /// Owns the calling thread until `process` stops.
  func run(in process: RoleProcess, _ watch: QueueWatch) {
    let client = HTTPClient(timeout: Self.laneWait)
    while !process.stop.isRaised {
      look(process, watch)
      lookAtLanes(client)
      process.stop.wait(atMost: Self.every)
    }
    watch.close()
  }

  private func look(_ process: RoleProcess, _ watch: QueueWatch) {
    do throws(BrokerLost) {
      let board = try watch.look()
      picture.withLock { $0.show(board, at: process.time.now()) }
      process.health.report("broker", trouble: nil)
    } catch {
      picture.withLock { $0.showNothing(because: error.reason) }
      process.health.report("broker", trouble: error.reason, effect: .degrades)
    }
  }

  private func lookAtLanes(_ client: HTTPClient) {
    var lanes: [LaneBoard.OpenLane] = []
    var unknown = senders.isEmpty ? ["LOCKSTEP_OPS_SENDERS is not set"] : []
    for sender in senders {
      do {
        let answer = try client.send("GET", "http://\(sender)/lanes")
        guard answer.status == 200 else { throw Reading.Complaint("answered \(answer.status)") }
        lanes += try JSON.decode([LaneBoard.OpenLane].self, from: answer.body)
      } catch {
        unknown.append("\(sender): \(error)")
      }
    }
    picture.withLock { $0.show(lanes, unknown: unknown) }
  }
}

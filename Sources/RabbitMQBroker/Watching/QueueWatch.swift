import Pipeline
import Vocabulary

/// Looks at all queues of a topology, again and again if wanted. Looking takes and changes nothing.
/// Owned by one thread.
package final class QueueWatch {
  private let topology: Topology
  private let counter: QueueCounter
  private let management: BrokerManagement?
  private let time: any TimeSource

  /// Without `management` only depths and consumers are known.
  package init(
    _ topology: Topology, at address: BrokerAddress, management: BrokerManagement?,
    limits: BrokerLimits = BrokerLimits(), time: any TimeSource
  ) {
    self.topology = topology
    self.management = management
    self.time = time
    counter = QueueCounter(address, limits: limits, time: time)
  }

  package func close() { counter.close() }

  /// - Throws: ``BrokerLost`` when neither the broker nor its management API answers.
  package func look() throws(BrokerLost) -> QueueBoard {
    var figures = QueueFigures()
    var unknown: [String] = []
    var loss: BrokerLost?
    do throws(BrokerLost) {
      figures.counts = try counter.counts(of: topology.queues.map(\.name))
    } catch {
      loss = error
      unknown.append("depths and consumers are some seconds old: \(error.reason)")
    }
    var toldAt: UnixTime?
    if let management {
      do throws(ManagementFailure) {
        toldAt = try ask(management, &figures)
      } catch {
        unknown.append("rates, unacked and ages are not known: \(error)")
      }
    } else {
      unknown.append(
        "rates, unacked and ages are not known: LOCKSTEP_AMQP_MANAGEMENT_URL is not set")
    }
    if let loss, figures.statistics == nil { throw loss }
    if figures.statistics != nil, toldAt == nil {
      unknown.append("rates and ages are not known: the broker has no history of its queues yet")
    }
    return QueueBoard(
      rows: figures.rows(of: topology), unknown: unknown,
      statisticsAge: toldAt.map { max(.zero, time.now() - $0) })
  }

  /// - Returns: of when the newest statistics are.
  private func ask(_ management: BrokerManagement, _ figures: inout QueueFigures)
    throws(ManagementFailure) -> UnixTime?
  {
    let statistics = try management.statistics()
    figures.statistics = Dictionary(statistics.map { ($0.name, $0) }) { _, last in last }
    var toldAt: UnixTime?
    for queue in topology.watched where figures.statistics?[queue.name] != nil {
      let past = try management.past(of: queue.name)
      figures.past[queue.name] = past
      toldAt = [toldAt, past.toldAt].compactMap { $0 }.max()
    }
    return toldAt
  }
}

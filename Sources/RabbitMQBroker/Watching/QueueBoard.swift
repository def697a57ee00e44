import Pipeline
import Vocabulary

/// How the queues of a topology stand: one look.
package struct QueueBoard: Sendable {
  /// One work queue, or the queue of what no queue took, with what belongs to it.
  package struct Row: Sendable {
    package let queue: Topology.Queue
    /// False: `lockstep topology apply` was not run.
    package let exists: Bool
    /// Ready to be taken. Nil here and below: not known.
    package let depth: Int?
    /// In the hands of readers.
    package let unacked: Int?
    package let consumers: Int?
    /// Messages per second.
    package let rates: (arriving: Double, leaving: Double)?
    /// Nil also when it is empty.
    package let oldest: QueueAge?
    /// What waits in each rung, or could not be handed over from there, the shortest first.
    package let rungs: [(name: String, depth: Int)]
    package let dead: (queue: Topology.Queue, depth: Int)?

    package init(
      queue: Topology.Queue, exists: Bool, depth: Int?, unacked: Int?, consumers: Int?,
      rates: (arriving: Double, leaving: Double)?, oldest: QueueAge?,
      rungs: [(name: String, depth: Int)], dead: (queue: Topology.Queue, depth: Int)?
    ) {
      self.queue = queue
      self.exists = exists
      self.depth = depth
      self.unacked = unacked
      self.consumers = consumers
      self.rates = rates
      self.oldest = oldest
      self.rungs = rungs
      self.dead = dead
    }
  }

  package let rows: [Row]
  /// What is not known, and why, for people.
  package let unknown: [String]
  /// Age of the newest statistics; nil without any.
  package let statisticsAge: Duration?

  package init(rows: [Row], unknown: [String], statisticsAge: Duration?) {
    self.rows = rows
    self.unknown = unknown
    self.statisticsAge = statisticsAge
  }
}

extension QueueBoard.Row {
  /// The stage's or plain queue's name in queues.yaml; the queue's own for what no queue took.
  package var owner: String {
    if case .work(let owner) = queue.purpose { owner } else { queue.name }
  }

  package var retrying: Int { rungs.reduce(0) { $0 + $1.depth } }
}

/// Figures of queues from wherever they can be had.
struct QueueFigures {
  /// From the broker itself; nil when it could not be asked.
  var counts: [String: QueueCounter.Count]?
  /// From the management API; nil when it could not be asked.
  var statistics: [String: QueueStatistics]?
  var past: [String: QueuePast] = [:]

  /// The broker's own figure is of this moment, the API's some seconds old.
  private func depth(_ queue: String) -> Int? {
    counts?[queue]?.ready ?? statistics?[queue]?.ready
  }

  private func exists(_ queue: String) -> Bool {
    counts.map { $0[queue] != nil } ?? (statistics?[queue] != nil)
  }

  func rows(of topology: Topology) -> [QueueBoard.Row] {
    topology.watched.map { queue in
      let (depth, unacked) = (depth(queue.name), statistics?[queue.name]?.unacked)
      let isEmpty = depth == 0 && (unacked ?? 0) == 0
      return QueueBoard.Row(
        queue: queue, exists: exists(queue.name), depth: depth, unacked: unacked,
        consumers: counts?[queue.name]?.consumers ?? statistics?[queue.name]?.consumers,
        rates: past[queue.name]?.rates, oldest: isEmpty ? nil : past[queue.name]?.oldest,
        rungs: rungs(of: queue, topology), dead: dead(of: queue, topology))
    }
  }

  /// The variants of a rung together.
  private func rungs(of queue: Topology.Queue, _ topology: Topology) -> [(String, Int)] {
    guard case .work(let owner) = queue.purpose else { return [] }
    var rungs: [(name: String, depth: Int)] = []
    for candidate in topology.queues {
      guard case .rung(owner, let name) = candidate.purpose else { continue }
      let waiting = (depth(candidate.name) ?? 0) + (statistics?[candidate.name]?.held ?? 0)
      if let place = rungs.firstIndex(where: { $0.name == name }) {
        rungs[place].depth += waiting
      } else {
        rungs.append((name, waiting))
      }
    }
    return rungs
  }

  private func dead(of queue: Topology.Queue, _ topology: Topology) -> (Topology.Queue, Int)? {
    guard case .work(let owner) = queue.purpose,
      let dead = topology.queues.first(where: { $0.purpose == .dead(owner: owner) }),
      let depth = depth(dead.name)
    else { return nil }
    return (dead, depth)
  }
}

extension Topology {
  /// The queues that have a row of their own, in the order of queues.yaml.
  package var watched: [Queue] {
    let work = queues.filter { if case .work = $0.purpose { true } else { false } }
    return work + queues.filter { $0.purpose == .unroutable }
  }
}

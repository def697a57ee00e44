import Pipeline
import RabbitMQBroker
import Synchronization
import Vocabulary

/// What the ops page shows without being asked: how the queues stood at the last look and the
/// minutes before, and which lanes are open.
struct OpsPicture: Sendable {
  /// Looks that are remembered, two seconds apart: five minutes.
  static let looksMax = 150

  private var at: UnixTime?
  private var rows = JSONValue.array([])
  private var troubles: [QueueTrouble] = []
  private var unknown: [String] = []
  /// Waiting messages of each queue, the newest last; nil where that was not known.
  private var depths: [String: [Int?]] = [:]
  private var lanes: [LaneBoard.OpenLane] = []
  /// Why the lanes, or some, are not known.
  private var lanesUnknown: [String] = []

  mutating func show(_ board: QueueBoard, at moment: UnixTime) {
    let shown = ShownQueues(board)
    at = moment
    rows = shown.table.objects
    troubles = shown.troubles
    unknown = board.unknown
    for row in board.rows { remember(row.depth, of: row.queue.name) }
  }

  /// The broker did not answer: the figures grow old, and the plots have a gap.
  mutating func showNothing(because reason: String) {
    unknown = [reason]
    for queue in depths.keys { remember(nil, of: queue) }
  }

  private mutating func remember(_ depth: Int?, of queue: String) {
    depths[queue, default: []].append(depth)
    let surplus = (depths[queue]?.count ?? 0) - Self.looksMax
    if surplus > 0 { depths[queue]?.removeFirst(surplus) }
  }

  mutating func show(_ lanes: [LaneBoard.OpenLane], unknown: [String]) {
    self.lanes = lanes
    lanesUnknown = unknown
  }

  func json(_ topology: Topology, now: UnixTime) -> JSONValue {
    let expected = topology.watched.compactMap { queue in
      queue.expectation.maxDepth.map { (queue.name, JSONValue.integer(Int64($0))) }
    }
    return [
      "age_ms": at.map { .integer(max(0, (now - $0).milliseconds)) } ?? .null, "queues": rows,
      "troubles": .array(troubles.map { .string($0.description) }),
      "unknown": .array(unknown.map { .string($0) }),
      "expected": .object(Dictionary(uniqueKeysWithValues: expected)),
      "depths": .object(
        depths.mapValues { .array($0.map { $0.map { .integer(Int64($0)) } ?? .null }) }),
      "lanes": .array(
        lanes.map { lane in
          [
            "environment": .string(lane.environment), "topic": .string(lane.topic),
            "opened_at": .string(lane.openedAt), "because": .string(lane.because),
          ]
        }),
      "lanes_unknown": .array(lanesUnknown.map { .string($0) }),
    ]
  }
}

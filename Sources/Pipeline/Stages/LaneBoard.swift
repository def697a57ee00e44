import Pushes
import Synchronization
import Vocabulary

/// The lanes that the senders of this process have opened: what the admin port tells of them.
package final class LaneBoard: Sendable {
  package struct OpenLane: Codable, Hashable, Sendable {
    /// ``Lane/Service``.
    package let environment: String
    package let topic: String
    package let openedAt: String
    package let because: String

    enum CodingKeys: String, CodingKey {
      case environment, topic, because
      case openedAt = "opened_at"
    }
  }

  /// Of each sender.
  private let lanes = Mutex<[StageName: [OpenLane]]>([:])

  package init() {}

  /// In the order in which they opened.
  package var open: [OpenLane] {
    lanes.withLock { $0.values.flatMap(\.self) }
      .sorted { ($0.openedAt, $0.topic) < ($1.openedAt, $1.topic) }
  }

  func show(_ book: LaneBook, of stage: StageName) {
    let open = book.open.map { lane, because, openedAt in
      OpenLane(
        environment: lane.service.rawValue, topic: lane.topic, openedAt: openedAt.rfc3339,
        because: because)
    }
    lanes.withLock { $0[stage] = open }
  }
}

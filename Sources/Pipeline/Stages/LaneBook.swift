import Pushes
import Vocabulary

/// One way to Apple that can fail as a whole: a service and a topic.
package struct Lane: Hashable, Sendable {
  package let environment: PushEnvironment
  package let topic: String
}

/// Which lanes are open, as a circuit is: nothing is sent on one but a probe at a time, until a
/// probe is accepted. What waits for it stays in hand and walks down no ladder.
struct LaneBook {
  /// Between two probes of one lane.
  static let probeInterval: Duration = .seconds(15)

  private struct Opening {
    let because: String
    var nextProbeAt: UnixTime
    var isProbing = false
  }

  private var openings: [Lane: Opening] = [:]
  private var known: Set<Lane> = []

  enum Permission { case send, probe, wait }

  /// Whether a push may go out on this lane now. A `probe` must be reported with ``answered``.
  mutating func permission(on lane: Lane, now: UnixTime) -> Permission {
    guard var opening = openings[lane] else { return .send }
    guard !opening.isProbing, now >= opening.nextProbeAt else { return .wait }
    opening.isProbing = true
    openings[lane] = opening
    return .probe
  }

  /// - Returns: whether the lane was closed before: the moment for an alarm.
  mutating func open(_ lane: Lane, because reason: String, now: UnixTime) -> Bool {
    let wasClosed = openings[lane] == nil
    known.insert(lane)
    openings[lane] = Opening(because: reason, nextProbeAt: now + Self.probeInterval)
    return wasClosed
  }

  /// APNs accepted a push on this lane.
  ///
  /// - Returns: whether the lane was open.
  mutating func accepted(on lane: Lane) -> Bool { openings.removeValue(forKey: lane) != nil }

  /// A push on this lane ended without saying anything about the lane.
  mutating func undecided(on lane: Lane, now: UnixTime) {
    guard var opening = openings[lane], opening.isProbing else { return }
    opening.isProbing = false
    opening.nextProbeAt = now + Self.probeInterval
    openings[lane] = opening
  }

  func isOpen(_ lane: Lane) -> Bool { openings[lane] != nil }

  var reasons: [Lane: String] { openings.mapValues(\.because) }

  /// Every lane that ever was open, and whether it is now.
  var changes: [Lane: Bool] {
    known.reduce(into: [:]) { changes, lane in changes[lane] = openings[lane] != nil }
  }
}

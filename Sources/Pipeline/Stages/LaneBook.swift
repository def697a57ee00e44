import Pushes
import Vocabulary

/// One way to Apple that can fail as a whole: a service and a topic.
package struct Lane: Hashable, Sendable {
  package let environment: PushEnvironment
  package let topic: String
}

/// Which lanes are open, as a circuit is: nothing is sent on one but a probe at a time, until a
/// probe is accepted. A few wait for it in hand, the others in a rung; none walks down the ladder.
struct LaneBook {
  /// Between two probes of one lane.
  static let probeInterval: Duration = .seconds(15)
  /// How many jobs of an open lane stay in hand for its probes, so that the other lanes have the
  /// rest of the prefetch.
  static let probesInHandMax = 4
  /// How long the others wait before they come again: as long as the lane has been open, so that a
  /// backlog does not go round for nothing, within these limits.
  static let parkTimeLeast: Duration = .seconds(15)
  static let parkTimeMost: Duration = .seconds(120)

  private struct Opening {
    let because: String
    let openedAt: UnixTime
    var nextProbeAt: UnixTime
    var isProbing = false

    /// A clock that was set back delays no probe.
    func isDue(_ now: UnixTime) -> Bool {
      now >= nextProbeAt || nextProbeAt - now > LaneBook.probeInterval
    }
  }

  private var openings: [Lane: Opening] = [:]
  private var known: Set<Lane> = []

  enum Permission { case send, probe, wait }

  /// Whether a push may go out on this lane now. How a `probe` ended must be said.
  mutating func permission(on lane: Lane, now: UnixTime) -> Permission {
    guard var opening = openings[lane] else { return .send }
    guard !opening.isProbing, opening.isDue(now) else { return .wait }
    opening.isProbing = true
    openings[lane] = opening
    return .probe
  }

  /// - Returns: whether the lane was closed before: the moment for an alarm.
  mutating func open(_ lane: Lane, because reason: String, now: UnixTime) -> Bool {
    let before = openings[lane]
    known.insert(lane)
    openings[lane] = Opening(
      because: reason, openedAt: before?.openedAt ?? now, nextProbeAt: now + Self.probeInterval)
    return before == nil
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

  /// How long a job that is no probe is to wait before it comes again.
  func parkTime(on lane: Lane, now: UnixTime) -> Duration {
    let open = openings[lane].map { now - $0.openedAt } ?? .zero
    return min(max(open, Self.parkTimeLeast), Self.parkTimeMost)
  }

  var hasOpenLanes: Bool { !openings.isEmpty }

  func isOpen(_ lane: Lane) -> Bool { openings[lane] != nil }

  var reasons: [Lane: String] { openings.mapValues(\.because) }

  /// The open ones, why, and since when.
  var open: [(lane: Lane, because: String, openedAt: UnixTime)] {
    openings.map { ($0.key, $0.value.because, $0.value.openedAt) }
  }

  /// Every lane that ever was open, and whether it is now.
  var changes: [Lane: Bool] {
    known.reduce(into: [:]) { changes, lane in changes[lane] = openings[lane] != nil }
  }
}

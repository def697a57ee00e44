import Pushes
import Vocabulary

/// One way to phones that can fail as a whole.
package struct Lane: Hashable, Sendable {
  /// Apple's two services and Google's, as `lockstep_lane_open` names them.
  package enum Service: String, Hashable, Sendable { case production, sandbox, fcm }

  package let service: Service
  /// Of Apple an app's topic, of FCM a project.
  package let topic: String

  package init(environment: PushEnvironment, topic: String) {
    service = environment == .production ? .production : .sandbox
    self.topic = topic
  }

  package init(fcmProject: String) {
    service = .fcm
    topic = fcmProject
  }

  /// Of the service alone: there are a handful of lanes, and each push looks its own up several
  /// times.
  package func hash(into hasher: inout Hasher) { hasher.combine(service) }
}

/// Which lanes are open, as a circuit is: nothing is sent on one but a probe at a time, until a
/// probe is accepted. A few wait for it in hand, the others in a rung; none walks down the ladder.
struct LaneBook {
  /// Between two probes of one lane.
  static let probeInterval: Duration = .seconds(15)
  /// The longest that a service may ask for before the next probe: what waits for it in hand must
  /// be settled well before RabbitMQ takes it away.
  static let probeWaitMost: Duration = .seconds(600)
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
    /// From when ``nextProbeAt`` was set.
    var wait: Duration
    var isProbing = false

    /// A clock that was set back delays no probe.
    func isDue(_ now: UnixTime) -> Bool { now >= nextProbeAt || nextProbeAt - now > wait }
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

  /// `wait`: until the next probe, when the service says how long.
  ///
  /// - Returns: whether the lane was closed before: the moment for an alarm.
  mutating func open(
    _ lane: Lane, because reason: String, now: UnixTime, probeAfter wait: Duration? = nil
  ) -> Bool {
    let before = openings[lane]
    known.insert(lane)
    let wait = min(wait ?? Self.probeInterval, Self.probeWaitMost)
    openings[lane] = Opening(
      because: reason, openedAt: before?.openedAt ?? now, nextProbeAt: now + wait, wait: wait)
    return before == nil
  }

  /// The service accepted a push on this lane.
  ///
  /// - Returns: whether the lane was open.
  mutating func accepted(on lane: Lane) -> Bool { openings.removeValue(forKey: lane) != nil }

  /// A push on this lane ended without saying anything about the lane.
  mutating func undecided(on lane: Lane, now: UnixTime) {
    guard var opening = openings[lane], opening.isProbing else { return }
    opening.isProbing = false
    opening.nextProbeAt = now + Self.probeInterval
    opening.wait = Self.probeInterval
    openings[lane] = opening
  }

  /// How long a job that is no probe is to wait before it comes again.
  func parkTime(on lane: Lane, now: UnixTime) -> Duration {
    guard let opening = openings[lane] else { return Self.parkTimeLeast }
    let wanted = max(now - opening.openedAt, opening.nextProbeAt - now)
    return min(max(wanted, Self.parkTimeLeast), Self.parkTimeMost)
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

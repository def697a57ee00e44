import Pushes
import ServiceRuntime
import Vocabulary

/// What the sender counts.
struct PushMetrics {
  private static let kindsMax = 256
  private static let pruningReasons: Set<String> = [
    "Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic",
  ]

  /// The labels of one counter of pushes.
  private struct Kind: Hashable {
    let environment: PushEnvironment
    let pushType: String
    let status: Int?
    private(set) var reason: String

    /// What all further reasons are counted under.
    var withoutReason: Kind {
      var kind = self
      kind.reason = "other"
      return kind
    }

    init(_ sending: APNsSender.Sending, status: Int?, reason: String) {
      environment = sending.environment
      pushType = sending.job.pushType
      self.status = status
      self.reason = reason
    }
  }

  /// Kept: writing the labels of a counter costs more than a push.
  private var pushes: [Kind: Counter] = [:]
  private let metrics: Metrics
  /// By ``activity(of:)``; kept for the same reason.
  private var criticalTimes: [String: Histogram] = [:]
  let inFlight: Gauge
  let guardTrips: Counter
  let lanes: LaneMetrics

  init(_ metrics: Metrics) {
    self.metrics = metrics
    lanes = LaneMetrics(metrics)
    inFlight = metrics.gauge("lockstep_pushes_in_flight", help: "Pushes sent and not answered.")
    guardTrips = metrics.counter(
      "lockstep_guard_trips_total", help: "Times that the mass guard stopped pruning.")
    for name in ["cooksuggest", Self.noActivity] { criticalTimes[name] = criticalTime(of: name) }
    for reason in Self.pruningReasons.union(["other"]) { _ = pruned(because: reason) }
    metrics.announce(Self.pushesName, help: Self.pushesHelp, type: "counter")
  }

  mutating func count(_ sending: APNsSender.Sending, _ outcome: PushOutcome, now: UnixTime) {
    let kind =
      switch outcome {
      case .answered(let answer):
        Kind(sending, status: answer.status, reason: answer.reason ?? "")
      case .neverProcessed: Kind(sending, status: nil, reason: "never_processed")
      case .unanswered: Kind(sending, status: nil, reason: "unanswered")
      }
    counter(of: kind).add()
    if kind.status == 200 {
      let histogram = histogram(of: Self.activity(of: sending.job))
      histogram.observe(max(0, (now - sending.job.causedAt).secondsAndFraction))
    }
  }

  private static let noActivity = "none"
  private static let other = "other"
  private static let activitiesMax = 16

  /// What the job's context key begins with, `cooksuggest`; `none` for an alert.
  static func activity(of job: PushJob) -> String {
    guard let key = job.contextKey else { return noActivity }
    // Byte by byte: characters cost more than the rest of what is counted of a push.
    var text = key.text
    return text.withUTF8 { bytes in
      let name = bytes.prefix { $0 != UInt8(ascii: ":") }
      let isPlain = (1...40).contains(name.count) && name.allSatisfy(isPlain)
      return isPlain ? String(decoding: name, as: UTF8.self) : other
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  private mutating func histogram(of activity: String) -> Histogram {
    if let known = criticalTimes[activity] { return known }
    let name = criticalTimes.count < Self.activitiesMax ? activity : Self.other
    let histogram = criticalTimes[name] ?? criticalTime(of: name)
    criticalTimes[name] = histogram
    return histogram
  }

  private func criticalTime(of activity: String) -> Histogram {
    metrics.histogram(
      "lockstep_critical_time_seconds", help: "From the mutation to APNs' acceptance of its push.",
      buckets: [
        0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600,
      ], labels: ["activity": activity])
  }

  private static let pushesName = "lockstep_pushes_total"
  private static let pushesHelp = "Pushes by what APNs answered."

  private mutating func counter(of wanted: Kind) -> Counter {
    if let known = pushes[wanted] { return known }
    // A server that gives another reason each time must not fill the memory.
    let kind = pushes.count < Self.kindsMax ? wanted : wanted.withoutReason
    let counter = metrics.counter(
      Self.pushesName, help: Self.pushesHelp,
      labels: [
        "environment": kind.environment.rawValue, "push_type": kind.pushType,
        "status": kind.status.map(String.init) ?? "none", "reason": String(kind.reason.prefix(40)),
      ])
    if pushes.count < Self.kindsMax { pushes[kind] = counter }
    return counter
  }

  func pruned(_ count: Int, because reason: String) {
    pruned(because: Self.pruningReasons.contains(reason) ? reason : "other").add(count)
  }

  private func pruned(because reason: String) -> Counter {
    metrics.counter(
      "lockstep_tokens_pruned_total", help: "Tokens marked as dead.", labels: ["reason": reason])
  }
}

/// What every sender tells of its lanes.
struct LaneMetrics {
  private static let name = "lockstep_lane_open"
  private static let help = "1 while nothing is sent on the lane but probes."

  private let metrics: Metrics

  init(_ metrics: Metrics) {
    self.metrics = metrics
    metrics.announce(Self.name, help: Self.help, type: "gauge")
  }

  /// Shows open lanes as 1; a lane that closed goes back to 0.
  func show(_ lanes: LaneBook) {
    for (lane, isOpen) in lanes.changes {
      metrics.gauge(
        Self.name, help: Self.help,
        labels: ["environment": lane.service.rawValue, "topic": lane.topic]
      ).set(isOpen ? 1 : 0)
    }
  }
}

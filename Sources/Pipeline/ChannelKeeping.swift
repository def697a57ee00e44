import Activities
import Cryptography
import Pushes
import ServiceRuntime
import Vocabulary

/// Looks after the broadcast channels of activities: has Apple make them before the first card is
/// started, and delete them once the last end has had its time.
///
/// The wish is stored with the activity; whoever takes it up holds it for a minute. The id and the
/// event that starts the cards are stored in one transaction. So a wish outlives every crash, and
/// two keepers never do the same at once. A keeper that dies between Apple's answer and the store
/// leaves a channel that no activity has; `lockstep channels list` shows it.
///
/// Any number may run. One thread runs one.
package final class ChannelKeeping {
  /// Looked after in one turn.
  package static let batchMax = 20
  private static let pause: Duration = .milliseconds(250)
  /// The wait after the store failed.
  private static let storeWait: Duration = .seconds(1)

  private let store: any Store
  private let service: any ChannelService
  private let bundleID: String
  private let kept: Duration
  private let time: any TimeSource
  private let log: Log
  private let health: Health
  private let metrics: Metrics
  private let onCommit: () -> Void

  /// `bundleID`: of channels that name none. `kept`: from an activity's end to the deletion of its
  /// channel. `onCommit`: called after events went into the outbox.
  package init(
    store: any Store, service: any ChannelService, bundleID: String, kept: Duration,
    time: any TimeSource, log: Log, metrics: Metrics, health: Health = Health(),
    onCommit: @escaping () -> Void = {}
  ) {
    self.store = store
    self.service = service
    self.bundleID = bundleID
    self.kept = kept
    self.time = time
    self.log = log
    self.metrics = metrics
    self.health = health
    self.onCommit = onCommit
  }

  /// Does what is due.
  ///
  /// - Returns: how many activities it looked after.
  /// - Throws: ``StoreError``; what was done by then is stored, the rest waits for its lease.
  package func turn() throws -> Int {
    let now = time.now()
    let due = try store.read { try $0.activitiesWithChannelDue(at: now, limit: Self.batchMax) }
    for seen in due {
      guard let (activity, task) = try claim(seen) else { continue }
      try carryOut(task, for: activity)
    }
    return due.count
  }

  /// Nil when somebody else has it, or there is nothing to do yet.
  private func claim(_ seen: Activity) throws -> (Activity, ChannelTask)? {
    try store.write { rows in
      let now = time.now()
      guard let activity = try rows.activity(seen.key),
        activity.channel?.dueAt == seen.channel?.dueAt
      else { return nil }
      let task = activity.channelTask
      // Phones that are away may still fetch the end from it.
      if case .delete = task, activity.updatedAt + kept > now {
        try rows.save(activity.postponingChannel(to: activity.updatedAt + kept))
        return nil
      }
      try rows.save(activity.claimingChannel(at: now))
      return task.map { (activity, $0) }
    }
  }

  private func carryOut(_ task: ChannelTask, for activity: Activity) throws {
    guard let channel = activity.channel else { return }
    let app = ChannelApp(
      bundleID: channel.bundleID ?? bundleID,
      environment: channel.environment == .sandbox ? .sandbox : .production)
    switch task {
    case .create(let storage):
      let answer = service.create(storingNewest: storage == .newest, in: app)
      try settle(answer, "create", activity, mayRefuse: true) { current, id, now in
        current.withChannel(id: id, storage: storage, of: app.bundleID, at: now)
      }
    case .find(let id):
      let answer = service.read(id, in: app)
      try settle(answer, "read", activity, mayRefuse: true) { current, storesNewest, now in
        current.withChannel(
          id: id, storage: storesNewest ? .newest : .none, of: app.bundleID, at: now)
      }
    case .delete(let id):
      let answer = service.delete(id, in: app)
      try settle(answer, "delete", activity, mayRefuse: false) { current, _, _ in
        current.afterChannel()
      }
    }
  }

  /// Stores what came of a task, with the event that follows from it.
  private func settle<Value>(
    _ answer: ChannelAnswer<Value>, _ what: String, _ activity: Activity, mayRefuse: Bool,
    _ done: (Activity, Value, UnixTime) -> Activity
  ) throws {
    let now = time.now()
    let isStored = try store.write { rows in
      guard let current = try rows.activity(activity.key) else { return false }
      let next: Activity
      switch answer {
      case .done(let value): next = done(current, value, now)
      // What the request itself is refused for no repetition mends.
      case .refused(let status, let reason)
      where (400..<500).contains(status) && status != 403
        && status != 429:
        next =
          mayRefuse
          ? current.withoutChannel(because: "\(status) \(reason)") : current.afterChannel()
      case .refused, .unanswered: next = current.tryingChannelLater(at: now)
      }
      try rows.save(next)
      let isSettled = mayRefuse && next.channel?.isAwaited == false && next.state == .live
      guard isSettled else { return false }
      try rows.append(
        Event.outboxEntry(
          for: next.tellingOfChannel, by: nil, id: EventID(UUIDText.v7(now: now)), at: now,
          traceparent: nil,
          source: "/lockstep/apns-sender"))
      return true
    }
    if isStored { onCommit() }
    tell(answer, what, activity)
  }

  private func tell<Value>(_ answer: ChannelAnswer<Value>, _ what: String, _ activity: Activity) {
    let (outcome, trouble): (String, String?) =
      switch answer {
      case .done: ("done", nil)
      case .refused(let status, let reason): ("refused", "\(status) \(reason)")
      case .unanswered(let cause): ("unanswered", cause)
      }
    metrics.counter(
      "lockstep_channel_calls_total", help: "Calls to Apple's management of broadcast channels.",
      labels: ["call": what, "outcome": outcome]
    ).add()
    health.report(
      "channels", trouble: trouble.map { "Apple cannot \(what) a channel: \($0)" },
      effect: .degrades)
    guard let trouble else { return log.info("channel \(what)", ["activity": activity.key.text]) }
    log.error(
      "Apple does not do it: channels",
      [
        "call": what, "activity": activity.key.text, "because": trouble,
        "do": "check Apple's portal: broadcast for this app, the number of channels, the key",
      ])
  }

  /// Runs until `stop` is raised. A store that is away is waited out.
  package func run(until stop: StopSignal) {
    while !stop.isRaised {
      do {
        let more = try turn() >= Self.batchMax
        if !more { stop.wait(atMost: Self.pause) }
      } catch {
        log.warning("channels wait", ["because": "\(error)"])
        stop.wait(atMost: Self.storeWait)
      }
    }
  }
}

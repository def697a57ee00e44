import Vocabulary

/// Spends Apple's hourly budget of immediate pushes: starts, ends and alerts always go with 10; of
/// an activity's updates one per interval does, the others go with 5, which costs nothing. A push
/// that shows nothing must go with 5: APNs refuses 10.
///
/// Source: developer.apple.com, "Starting and updating Live Activities with ActivityKit push
/// notifications" and "Sending notification requests to APNs".
package struct PushPriority: Sendable {
  package static let immediate = 10
  package static let considerate = 5
  /// Activities remembered at most, 16 bytes each, so one MiB; beyond it those pushed to longest
  /// ago are forgotten, which only means that one more of their updates goes with 10.
  package static let activitiesMax = 65_536

  private let interval: Duration
  private let intervalWhenSparing: Duration
  private var lastImmediate = TokenMoments(count: activitiesMax)

  /// - Parameters:
  ///   - interval: the least time between two immediate updates of one activity.
  ///   - intervalWhenSparing: the same for a phone that reported `frequentPushesEnabled: false`.
  package init(interval: Duration = .seconds(15), intervalWhenSparing: Duration = .seconds(60)) {
    self.interval = interval
    self.intervalWhenSparing = intervalWhenSparing
  }

  /// The priority of a push sent `now`.
  package mutating func next(
    for event: PushJob.Event, hasAlert: Bool = false, to token: PushToken,
    frequentPushesEnabled: Bool?, now: UnixTime
  ) -> Int {
    if event == .resolve { return Self.considerate }
    guard event == .update, !hasAlert else { return Self.immediate }
    let wait = frequentPushesEnabled == false ? intervalWhenSparing : interval
    if let last = lastImmediate.moment(of: token), now >= last, now - last < wait {
      return Self.considerate
    }
    lastImmediate.note(token, at: now)
    return Self.immediate
  }
}

import Vocabulary

/// What iOS lets Live Activity pushes cost. Apple publishes no numbers: a phone has the budget that
/// its ``PhoneOrder`` gives it, and without one takes everything. What is over it is dropped in
/// silence; APNs has answered 200.
///
/// Source: developer.apple.com, "Starting and updating Live Activities with ActivityKit push
/// notifications"; its forums, thread 799505.
package struct PushBudget: Hashable, Sendable, Decodable {
  private static let hour = Duration.seconds(3600)
  private static let startWindow = Duration.seconds(300)

  /// Updates and ends of priority 10 that are shown within an hour; those of priority 5 are free.
  package let immediatePerHour: Int?
  /// Starts that are shown within five minutes.
  package let starts: Int?
  private var immediateAt: [UnixTime] = []
  private var startsAt: [UnixTime] = []

  enum CodingKeys: String, CodingKey {
    case immediatePerHour = "immediate_per_hour"
    case starts
  }

  package init(immediatePerHour: Int? = nil, starts: Int? = nil) {
    self.immediatePerHour = immediatePerHour
    self.starts = starts
  }

  /// Spends what this push costs.
  ///
  /// - Returns: false when there is too little left; then nothing is spent.
  mutating func spend(on event: PushPayload.Event, priority: Int, at now: UnixTime) -> Bool {
    switch event {
    case .start: Self.spend(&startsAt, of: starts, within: Self.startWindow, at: now)
    case .update, .end:
      priority < 10
        || Self.spend(&immediateAt, of: immediatePerHour, within: Self.hour, at: now)
    }
  }

  private static func spend(
    _ spent: inout [UnixTime], of budget: Int?, within window: Duration, at now: UnixTime
  ) -> Bool {
    guard let budget else { return true }
    spent.removeAll { now - $0 >= window }
    guard spent.count < budget else { return false }
    spent.append(now)
    return true
  }
}

import Vocabulary

/// The broadcast channel that the cards of an activity listen to (iOS 18): one push to it instead
/// of one to each card.
///
/// A channel belongs to one app in one of Apple's two services. Phones of the other service start
/// their card without it, and get their own pushes.
/// Source: research on "Sending channel management requests to APNs", developer.apple.com.
package struct ActivityChannel: Hashable, Sendable {
  /// What Apple keeps for phones that are away. It never changes.
  package enum Storage: String, Codable, Hashable, Sendable, CaseIterable {
    /// The newest broadcast, for up to eight hours.
    case newest
    /// Nothing; for that, more may be published.
    case none
  }

  package enum Environment: String, Codable, Hashable, Sendable, CaseIterable {
    case production, sandbox
  }

  /// Made for this activity, and deleted after it.
  package let isOurs: Bool
  package let environment: Environment
  /// Nil: the bundle that the sender is configured with.
  package let bundleID: String?
  /// The bundle that it is of; nil until it is ready.
  package internal(set) var app: String?
  /// Apple's, opaque. Nil until Apple has made it.
  package internal(set) var id: String?
  package internal(set) var storage: Storage
  /// Apple made it, or said that it is there. Until then no card is started.
  package internal(set) var isReady: Bool
  /// Why the cards go without it; nil when they do not.
  package internal(set) var problem: String?
  /// When it is looked after next; nil when there is nothing to do.
  package internal(set) var dueAt: UnixTime?
  /// How often Apple gave no answer to what is to be done next.
  package internal(set) var failures: Int

  /// Asks for a new one (`id` nil), or for one that is there.
  package init(
    id: String?, storage: Storage = .newest, environment: Environment = .production,
    bundleID: String? = nil, at now: UnixTime
  ) {
    isOurs = id == nil
    self.id = id
    self.storage = storage
    self.environment = environment
    self.bundleID = bundleID
    app = nil
    isReady = false
    problem = nil
    dueAt = now
    failures = 0
  }

  /// The cards wait for it.
  package var isAwaited: Bool { !isReady && problem == nil }

  /// Whether two mutations ask for the same. What an existing channel stores Apple knows.
  package func asksForSame(as other: ActivityChannel?) -> Bool {
    guard let other else { return false }
    return isOurs == other.isOurs && environment == other.environment && bundleID == other.bundleID
      && (isOurs ? storage == other.storage : id == other.id)
  }
}

/// What is to be done about a channel next.
package enum ChannelTask: Hashable, Sendable {
  case create(ActivityChannel.Storage)
  /// Apple is asked whether it is there and what it stores.
  case find(id: String)
  case delete(id: String)
}

extension Activity {
  /// The longest channel id taken, in bytes; those seen have some twenty.
  package static let channelIDBytesMax = 200
  /// How long one worker has for a task before another may take it up.
  package static let channelLease: Duration = .seconds(60)
  private static let channelWaitMax: Duration = .seconds(60)

  /// Nil when nothing is to be done, now or later.
  package var channelTask: ChannelTask? {
    guard let channel else { return nil }
    switch (state, channel.id) {
    case (.live, let id) where channel.isAwaited:
      return id.map { .find(id: $0) } ?? .create(channel.storage)
    case (.ended, let id?) where channel.isOurs && channel.isReady: return .delete(id: id)
    default: return nil
    }
  }

  /// Nobody else takes its task up before the lease is over.
  package func claimingChannel(at now: UnixTime) -> Activity {
    var next = self
    next.channel?.dueAt = channelTask == nil ? nil : now + Self.channelLease
    return next
  }

  /// Looked at too early: its task waits until `moment`.
  package func postponingChannel(to moment: UnixTime) -> Activity {
    var next = self
    next.channel?.dueAt = moment
    return next
  }

  /// Apple made it, or said that it is there. Of an activity that ended meanwhile it is to be
  /// deleted.
  ///
  /// `app`: the bundle that it is of.
  package func withChannel(
    id: String, storage: ActivityChannel.Storage, of app: String, at now: UnixTime
  ) -> Activity {
    var next = self
    next.channel?.app = app
    next.channel?.id = id
    next.channel?.storage = storage
    next.channel?.isReady = true
    next.channel?.failures = 0
    next.channel?.dueAt = state == .ended && channel?.isOurs == true ? now : nil
    return next
  }

  /// Apple refused: the cards go without it, each with pushes of its own.
  package func withoutChannel(because problem: String) -> Activity {
    var next = self
    next.channel?.problem = problem
    next.channel?.dueAt = nil
    return next
  }

  /// Deleted, or gone already.
  package func afterChannel() -> Activity {
    var next = self
    next.channel?.isReady = false
    next.channel?.dueAt = nil
    return next
  }

  /// No answer, or one that says later: after two seconds, four, up to a minute.
  package func tryingChannelLater(at now: UnixTime) -> Activity {
    var next = self
    let failures = min((channel?.failures ?? 0) + 1, 6)
    next.channel?.failures = failures
    next.channel?.dueAt = now + min(.seconds(1 << failures), Self.channelWaitMax)
    return next
  }

  /// That the cards have their channel now, or go without; the rev says nothing of it.
  package var tellingOfChannel: ActivityChange {
    ActivityChange(activity: self, event: .updated, mutationName: "channel")
  }

  /// Why these cards cannot share a channel; nil when they can.
  package var channelObstacle: String? {
    guard channel != nil else { return nil }
    if recipients.contains(where: { !$0.isPresent }) {
      return "leave out somebody who has a card: one card alone cannot be taken off a channel"
    }
    let states = Set(recipients.map(\.contentState))
    return states.count < 2
      ? nil
      : "have content states of their own: a channel shows one state on all cards; give"
        + " content_state alone, or start without channel"
  }
}

extension ActivityChannel: Codable {
  private enum CodingKeys: String, CodingKey {
    case isOurs = "ours"
    case environment
    case bundleID = "bundle_id"
    case app, id, storage
    case isReady = "ready"
    case problem
    case dueAt = "due_at"
    case failures
  }
}

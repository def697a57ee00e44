import Activities
import Pushes
import Vocabulary

/// The state of a channel: what all cards that listen to it show. Kept and sent as that of one more
/// recipient, whom no person is: so a broadcast has every guarantee that an update has.
extension ActivityState {
  private static let channelPrefix = "channel:"

  /// It is the state of a channel, and not of a card.
  var isOfChannel: Bool { contextKey.text.hasPrefix(Self.channelPrefix) }

  /// What the activity's channel should show after `states`, which are its recipients'. Nil when
  /// it has none, or none that can be used.
  static func ofChannel(of activity: Activity, showing states: [ActivityState]) -> ActivityState? {
    guard let channel = activity.usableChannel, let any = states.first,
      // Who joins later has a newer rev, and changes nothing for the others.
      let rev = activity.recipients.map(\.rev).min()
    else { return nil }
    let name = channelContext(of: activity.key)
    var extras =
      any.extras ?? Extras(relevanceScore: nil, beside: [:], alertsOnUpdate: false)
    extras.channel = channel
    extras.alertsOnUpdate = any.event != .end && activity.alertRev == rev
    return ActivityState(
      contextKey: name, sessionID: any.sessionID, userID: UserID(name.text), rev: rev,
      event: any.event, contentState: any.contentState, attributesType: any.attributesType,
      attributes: nil, alertTitle: any.alertTitle, alertBody: any.alertBody, staleAt: any.staleAt,
      dismissAt: any.dismissAt, deadline: any.deadline, causedAt: any.causedAt,
      traceparent: any.traceparent, extras: extras)
  }

  /// `channel:{activity_key}`.
  package static func channelContext(of key: ActivityKey) -> ContextKey {
    ContextKey("\(channelPrefix)\(key)")
  }

  /// Nil for the context key of a card.
  package static func activityKey(ofChannel context: ContextKey) -> ActivityKey? {
    guard context.text.hasPrefix(channelPrefix) else { return nil }
    return ActivityKey(String(context.text.dropFirst(channelPrefix.count)))
  }

  /// The channel that this is the state of, as an address among tokens; nil of a card's state.
  ///
  /// - Throws: `PushTokenError` when the channel's id spells no address.
  func channelAddress(now: UnixTime) throws(PushTokenError) -> Registration? {
    guard isOfChannel, let channel = extras?.channel else { return nil }
    return Registration(
      userID: userID, token: try channel.address(), kind: .update, contextKey: contextKey,
      attributesType: attributesType, environment: channel.environment,
      bundleID: channel.bundleID, registeredAt: now)
  }
}

extension Activity {
  /// The channel that its cards listen to; nil for one that is awaited, or that Apple refused.
  package var usableChannel: BroadcastChannel? {
    guard let channel, channel.isReady, let id = channel.id, let app = channel.app
    else { return nil }
    return BroadcastChannel(
      id: id, storesNewest: channel.storage == .newest,
      environment: channel.environment == .sandbox ? .sandbox : .production,
      bundleID: app, isOfConfiguredBundle: channel.bundleID == nil)
  }
}

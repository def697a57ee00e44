import Foundation
import Vocabulary

/// One push to one token, ready to send but for the stamp: what travels on the `apns` queue.
///
/// A class: it goes through a dozen hands, and to count its strings anew for each copy cost a tenth
/// of a push's whole way.
package final class PushJob: Hashable, Sendable {
  package enum Event: String, Hashable, Sendable, CaseIterable {
    case start, update, end, alert
    /// Takes back an alert that the device may have shown.
    case resolve
  }

  /// Also the `apns-id`: the same on every retry, and when the event that caused it comes twice.
  package let id: String
  package let event: Event
  package let sessionID: SessionID
  package let userID: UserID
  /// Only of a Live Activity's.
  package let contextKey: ContextKey?
  package let rev: Int
  /// An update that lights the screen up, and so goes at once.
  package let hasAlert: Bool
  package let token: PushToken
  package let environment: PushEnvironment
  /// Nil: the bundle the sender is configured with.
  package let bundleID: String?
  package let collapseID: String?
  /// Of an alert and what takes it back: which notification they belong to. Once that is resolved,
  /// the alert is not sent.
  package let dedupeKey: String?
  /// After this the push is pointless and is dropped.
  package let deadline: UnixTime
  /// When the mutation happened: where critical time starts.
  package let causedAt: UnixTime
  package let traceparent: String?
  /// The body for APNs without `aps.timestamp`; see ``LiveActivityPayload/stamped(_:at:)``.
  package let payload: Data
  /// Of a push to a channel: whether Apple keeps the newest for phones that are away. Nil for one
  /// to a token.
  package let channelStoresNewest: Bool?

  package init(
    id: String, event: Event, sessionID: SessionID, userID: UserID, contextKey: ContextKey?,
    rev: Int, hasAlert: Bool = false, token: PushToken, environment: PushEnvironment,
    bundleID: String?,
    collapseID: String?, dedupeKey: String? = nil, deadline: UnixTime, causedAt: UnixTime,
    traceparent: String?, payload: Data, channelStoresNewest: Bool? = nil
  ) {
    self.id = id
    self.event = event
    self.sessionID = sessionID
    self.userID = userID
    self.contextKey = contextKey
    self.rev = rev
    self.hasAlert = hasAlert
    self.token = token
    self.environment = environment
    self.bundleID = bundleID
    self.collapseID = collapseID
    self.dedupeKey = dedupeKey
    self.deadline = deadline
    self.causedAt = causedAt
    self.traceparent = traceparent
    self.payload = payload
    self.channelStoresNewest = channelStoresNewest
  }

  package static func == (left: PushJob, right: PushJob) -> Bool {
    left.id == right.id && left.event == right.event && left.sessionID == right.sessionID
      && left.userID == right.userID && left.contextKey == right.contextKey
      && left.rev == right.rev && left.hasAlert == right.hasAlert && left.token == right.token
      && left.environment == right.environment && left.bundleID == right.bundleID
      && left.collapseID == right.collapseID && left.dedupeKey == right.dedupeKey
      && left.deadline == right.deadline && left.causedAt == right.causedAt
      && left.traceparent == right.traceparent && left.payload == right.payload
      && left.channelStoresNewest == right.channelStoresNewest
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(id) }

  /// Goes to all cards that listen to a channel; ``token`` stands for that.
  package var isBroadcast: Bool { channelStoresNewest != nil }

  package var isLiveActivity: Bool {
    switch event {
    case .start, .update, .end: true
    case .alert, .resolve: false
    }
  }

  /// `apns-push-type`.
  package var pushType: String {
    switch event {
    case .start, .update, .end: "liveactivity"
    case .alert: "alert"
    case .resolve: "background"
    }
  }

  /// `apns-topic`: a Live Activity's is the bundle with Apple's suffix.
  package func topic(bundle configured: String) -> String {
    let bundle = bundleID ?? configured
    if isBroadcast { return bundle + BundleID.broadcastSuffix }
    return isLiveActivity ? bundle + BundleID.activitySuffix : bundle
  }

  /// `apns-expiration` for a push sent `now`: how long APNs may keep it for a phone that is away.
  package func expiration(now: UnixTime) -> Int64 {
    if channelStoresNewest == false { return 0 }
    let kept: Duration =
      switch event {
      case .start: .seconds(600)
      case .update, .alert, .resolve: deadline - now
      case .end: .seconds(8 * 3600)
      }
    return min(now + kept, deadline).seconds
  }
}

import Vocabulary

/// A push that APNs answered with 200: it will try to deliver it.
package struct AcceptedPush: Hashable, Sendable {
  /// Lower-case digits.
  package let token: String
  package let use: TokenUse
  package let type: PushType
  package let topic: String
  package let priority: Int
  package let expiration: PushExpiration
  /// Lower-case; nil when APNs has to make one.
  package let apnsID: String?
  package let collapseID: String?
  package let contentType: String?
  /// A failure is what no phone can read; APNs does not look.
  package let payload: Result<PushPayload, Finding.Failure>
  /// It came over a channel, which keeps its own newest.
  package let isBroadcast: Bool

  package init(
    token: String, use: TokenUse, type: PushType, topic: String, priority: Int,
    expiration: PushExpiration, apnsID: String?, collapseID: String?, contentType: String?,
    payload: Result<PushPayload, Finding.Failure>, isBroadcast: Bool = false
  ) {
    self.token = token
    self.use = use
    self.type = type
    self.topic = topic
    self.priority = priority
    self.expiration = expiration
    self.apnsID = apnsID
    self.collapseID = collapseID
    self.contentType = contentType
    self.payload = payload
    self.isBroadcast = isBroadcast
  }

  /// Whether APNs would still deliver it at that moment.
  package func isDeliverable(at now: UnixTime) -> Bool {
    switch expiration {
    case .appleDecides: true
    case .onceNow: false
    case .at(let seconds): now.seconds < seconds
    }
  }
}

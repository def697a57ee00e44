import Pushes
import Sessions

/// What an operator may set of the API.
package struct APISettings: Hashable, Sendable {
  package var session: SessionLimits
  /// Sessions that have not ended and that one user has not left. Beyond it 429.
  package var liveSessionsPerUserMax: Int
  /// Requests per second and user in the long run. Callers with scope `service` are not limited.
  package var requestsPerSecond: Double
  /// Requests of one user at once.
  package var requestBurst: Int
  /// Nil: Web Push is off.
  package var webPush: WebPushOffer?
  /// Package names of the Android apps whose phones may register; empty: FCM is off.
  package var fcmPackages: [String]

  package init(
    session: SessionLimits = SessionLimits(), liveSessionsPerUserMax: Int = 100,
    requestsPerSecond: Double = 20, requestBurst: Int = 60, webPush: WebPushOffer? = nil,
    fcmPackages: [String] = []
  ) {
    self.session = session
    self.liveSessionsPerUserMax = liveSessionsPerUserMax
    self.requestsPerSecond = requestsPerSecond
    self.requestBurst = requestBurst
    self.webPush = webPush
    self.fcmPackages = fcmPackages
  }
}

/// What the API tells browsers and takes from them.
package struct WebPushOffer: Hashable, Sendable {
  /// The VAPID key that new subscriptions are made with: base64url of 65 octets.
  package let publicKey: String
  /// The push services whose subscriptions are taken.
  package let services: PushServices

  package init(publicKey: String, services: PushServices) {
    self.publicKey = publicKey
    self.services = services
  }
}

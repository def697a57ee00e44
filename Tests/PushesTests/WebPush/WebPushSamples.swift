import Cryptography
import Pushes
import TestSupport
import Vocabulary

/// Endpoints and keys that tests speak of.
enum WebPushSamples {
  static let endpoint = "https://fcm.googleapis.com/fcm/send/abc:def"

  static func subscription(
    _ endpoint: String = endpoint, of user: UserID = UserID("u_mara"),
    keyID: String = "key"
  ) throws -> WebPushSubscription {
    WebPushSubscription(
      userID: user, endpoint: try PushEndpoint(endpoint),
      keys: try WebPushKeys(
        p256dh: AgreementKey.generate().publicKey, auth: RandomBytes.make(16)),
      vapidKeyID: keyID, createdAt: Samples.noon)
  }
}

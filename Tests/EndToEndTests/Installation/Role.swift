/// A process of an installation.
enum Role: String, CaseIterable {
  case simulator
  case api
  case payloadBuilder = "payload-builder"
  case apnsSender = "apns-sender"
  case notifier
  /// Only where ``Installation/offerWebPush()`` was called.
  case webPushSender = "webpush-sender"
  /// Only where ``Installation/offerFCM()`` was called.
  case fcmSender = "fcm-sender"
  /// All roles in one process.
  case run
  /// Serves the operators' page.
  case ops
  // Compete with the first ones.
  case secondPayloadBuilder = "payload-builder.2"
  case secondAPNsSender = "apns-sender.2"

  /// What `lockstep` calls it.
  var command: String { String(rawValue.prefix { $0 != "." }) }

  static let separate: [Role] = [.api, .payloadBuilder, .apnsSender, .notifier]
  /// With a second builder and a second sender.
  static let competing = separate + [.secondPayloadBuilder, .secondAPNsSender]
}

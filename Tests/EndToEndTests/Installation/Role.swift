/// A process of an installation.
enum Role: String, CaseIterable {
  case simulator
  case api
  case payloadBuilder = "payload-builder"
  case apnsSender = "apns-sender"
  case notifier
  /// All of them but the simulator.
  case run
  /// Serves the operators' page.
  case ops

  static let separate: [Role] = [.api, .payloadBuilder, .apnsSender, .notifier]
}

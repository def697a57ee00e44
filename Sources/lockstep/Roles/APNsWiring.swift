import APNsTransport
import Foundation
import Pipeline
import Pushes
import ServiceRuntime

/// APNs as settings say.
struct APNsWiring: Sendable {
  static let settingNames = [
    "APNS_KEY_FILE", "APNS_KEY_ID", "APNS_TEAM_ID", "APNS_BUNDLE_ID", "APNS_URL_PRODUCTION",
    "APNS_URL_SANDBOX", "APNS_CA_FILE", "APNS_CONNECTIONS", "APNS_TIMEOUT_SECONDS",
  ]

  private let keyFile: String
  private let keyID: String?
  private let teamID: String
  let bundleID: String
  private let transport: APNsTransportSettings

  /// Notes problems in `settings`; then the value is of no use.
  init(reading settings: inout SettingsReader) {
    keyFile =
      settings.required("APNS_KEY_FILE", want: "the path of a .p8 file") { path in
        _ = try Reading.file(path)
        return path
      } ?? ""
    keyID = settings.value("APNS_KEY_ID", Self.tenCharacters)
    teamID = settings.required("APNS_TEAM_ID", want: "ten characters", Self.tenCharacters) ?? ""
    bundleID =
      settings.required("APNS_BUNDLE_ID", want: "the app's bundle id") { try BundleID($0).text }
      ?? ""
    var transport = APNsTransportSettings()
    for (name, environment) in [
      ("APNS_URL_PRODUCTION", PushEnvironment.production),
      ("APNS_URL_SANDBOX", PushEnvironment.sandbox),
    ] {
      if let url = settings.value(name, Self.url) { transport.servers[environment] = url }
    }
    transport.authorityFile = settings.value("APNS_CA_FILE") { path in
      _ = try Reading.file(path)
      return path
    }
    transport.connectionsPerEnvironment = settings.integer(
      "APNS_CONNECTIONS", in: 1...16, default: transport.connectionsPerEnvironment)
    // One for probation, and as many again while the old ones finish their streams.
    transport.connectionsMax = transport.connectionsPerEnvironment * 2 + 2
    transport.requestTimeout = settings.seconds("APNS_TIMEOUT_SECONDS", in: 1...60, default: 10)
    self.transport = transport
  }

  func makeTransport(_ process: RoleProcess) throws -> APNsTransport {
    do {
      let tokens = try ProviderTokens(
        keyFile: keyFile, keyID: keyID, teamID: teamID, time: process.time, log: process.log,
        metrics: process.metrics)
      return try APNsTransport(
        settings: transport, tokens: tokens, time: process.time, log: process.log,
        metrics: process.metrics)
    } catch {
      throw CommandFailure(.configuration, "APNs: \(error)")
    }
  }

  private static func tenCharacters(_ value: String) throws -> String {
    guard value.count == 10, value.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
      throw Reading.Complaint("want ten letters and digits")
    }
    return value
  }

  private static func url(_ value: String) throws -> URL {
    guard let url = URL(string: value), url.scheme == "https", url.host?.isEmpty == false else {
      throw Reading.Complaint("want https://host or https://host:port")
    }
    return url
  }
}

import APNsTransport
import Cryptography
import Foundation
import Pipeline
import Pushes
import ServiceRuntime

/// APNs as settings say.
struct APNsWiring: Sendable {
  static let settingNames = [
    "APNS_KEY_FILE", "APNS_KEY_ID", "APNS_TEAM_ID", "APNS_BUNDLE_ID", "APNS_URL_PRODUCTION",
    "APNS_URL_SANDBOX", "APNS_CA_FILE", "APNS_CONNECTIONS", "APNS_TIMEOUT_SECONDS",
    "APNS_CHANNELS_URL_PRODUCTION", "APNS_CHANNELS_URL_SANDBOX", "APNS_CHANNELS_KEPT_SECONDS",
  ]

  private let keyFile: String
  private let keyID: String?
  private let teamID: String
  let bundleID: String
  private let transport: APNsTransportSettings
  private let channelServers: [PushEnvironment: String]
  /// From an activity's end to the deletion of its channel.
  let channelsKept: Duration

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
    var servers = ChannelManagement.apple
    for (name, environment) in [
      ("APNS_CHANNELS_URL_PRODUCTION", PushEnvironment.production),
      ("APNS_CHANNELS_URL_SANDBOX", PushEnvironment.sandbox),
    ] {
      if let url = settings.value(name, Self.url) { servers[environment] = url.absoluteString }
    }
    channelServers = servers
    channelsKept = settings.seconds("APNS_CHANNELS_KEPT_SECONDS", in: 0...86_400, default: 28_800)
  }

  /// Apple's management of broadcast channels.
  ///
  /// - Throws: ``CommandFailure`` when the key cannot be used.
  func makeChannels(time: any TimeSource, log: Log, metrics: Metrics) throws -> ChannelManagement {
    do {
      let tokens = try ProviderTokens(
        keyFile: keyFile, keyID: keyID, teamID: teamID, time: time, log: log, metrics: metrics)
      return ChannelManagement(
        servers: channelServers, tokens: tokens, authorityFile: transport.authorityFile,
        timeout: transport.requestTimeout, newRequestID: { UUIDText.v7(now: time.now()) })
    } catch {
      throw CommandFailure(.configuration, "APNs: \(error)")
    }
  }

  /// The thread that looks after channels.
  func startChannels(_ process: RoleProcess, store: any Store) throws -> (
    name: String, thread: OwnedThread
  ) {
    let name = "channel-keeping"
    // What cannot be used is found before the thread starts.
    _ = try makeChannels(time: process.time, log: process.log, metrics: process.metrics)
    let thread = OwnedThread.start(named: name) {
      do {
        let service = try makeChannels(
          time: process.time, log: process.log, metrics: process.metrics)
        let keeping = ChannelKeeping(
          store: store, service: service, bundleID: bundleID, kept: channelsKept,
          time: process.time, log: process.log, metrics: process.metrics, health: process.health)
        keeping.run(until: process.stop)
      } catch {
        process.fail(error as? CommandFailure ?? CommandFailure(.software, "\(name): \(error)"))
      }
    }
    return (name, thread)
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

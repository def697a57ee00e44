import Foundation
import HTTPAPI
import Pipeline
import Pushes
import ServiceRuntime
import WebPushTransport

/// Web Push as settings say.
struct WebPushWiring: Sendable {
  static let settingNames = ["VAPID_KEY_FILE", "VAPID_SUBJECT", "WEBPUSH_ALLOW", "WEBPUSH_CA_FILE"]
  /// What the API reads of them.
  static let apiSettingNames = ["VAPID_KEY_FILE", "WEBPUSH_ALLOW"]

  private let keys: VAPIDKeys
  private let subject: VAPIDSubject
  private let services: PushServices
  private let transport: WebPushTransportSettings

  /// Whether Web Push is meant to be: it is off without a key.
  static func isConfigured(_ settings: SettingsReader) -> Bool {
    settings.text("VAPID_KEY_FILE") != nil
  }

  /// Nil, with problems noted in `settings`, when something is missing or wrong.
  init?(reading settings: inout SettingsReader) {
    let keys = settings.required(
      "VAPID_KEY_FILE", want: "a file that lockstep vapid generate made", Self.keys)
    let subject = settings.required(
      "VAPID_SUBJECT", want: "mailto:name@domain or https://domain, where you can be reached"
    ) { try VAPIDSubject($0) }
    services = Self.services(reading: &settings)
    var transport = WebPushTransportSettings()
    transport.authorityFile = settings.value("WEBPUSH_CA_FILE") { path in
      _ = try Reading.file(path)
      return path
    }
    self.transport = transport
    guard let keys, let subject else { return nil }
    self.keys = keys
    self.subject = subject
  }

  /// What the API offers to browsers; nil without a key.
  static func offer(reading settings: inout SettingsReader) -> WebPushOffer? {
    let services = services(reading: &settings)
    return settings.value("VAPID_KEY_FILE", keys).map {
      WebPushOffer(publicKey: $0.first.id, services: services)
    }
  }

  /// Where the web app lives: what makes the links of Web Push absolute. Nil when it is not set.
  static func origin(reading settings: inout SettingsReader) -> WebOrigin? {
    settings.value("WEB_ORIGIN") { try WebOrigin($0) }
  }

  func makeSender(_ process: RoleProcess, store: any Store) -> WebPushSender {
    WebPushSender(
      store: store, carrier: WebPushTransport(settings: transport, time: process.time), keys: keys,
      subject: subject, services: services, time: process.time, log: process.log,
      metrics: process.metrics, tracer: process.tracer)
  }

  private static func services(reading settings: inout SettingsReader) -> PushServices {
    settings.value("WEBPUSH_ALLOW") { try PushServices(list: $0) } ?? .browsers
  }

  private static func keys(_ path: String) throws -> VAPIDKeys {
    try VAPIDKeys(pem: String(decoding: Reading.file(path), as: UTF8.self))
  }
}

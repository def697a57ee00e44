import FCMTransport
import Foundation
import HTTPClient
import Pipeline
import Pushes
import ServiceRuntime

/// FCM as settings say.
struct FCMWiring: Sendable {
  static let settingNames = ["FCM_CREDENTIALS_FILE", "FCM_URL", "FCM_CA_FILE"]
  /// What the API reads.
  static let apiSettingNames = ["FCM_PACKAGES"]

  private let account: ServiceAccount
  private let url: String
  private let transport: HTTPTransfers.Settings

  /// Whether Android phones are meant to be told: FCM is off without credentials.
  static func isConfigured(_ settings: SettingsReader) -> Bool {
    settings.text("FCM_CREDENTIALS_FILE") != nil
  }

  /// Nil, with problems noted in `settings`, when something is missing or wrong.
  init?(reading settings: inout SettingsReader) {
    let account = settings.required(
      "FCM_CREDENTIALS_FILE", want: "the path of a service account's JSON"
    ) { try ServiceAccount(json: Reading.file($0)) }
    url =
      settings.value("FCM_URL") { text in
        guard text.wholeMatch(of: #/https:\/\/[^\/?#@\s]+/#) != nil else {
          throw Reading.Complaint("want https://host[:port]")
        }
        return text
      } ?? FCMTransport.googleURL
    var transport = HTTPTransfers.Settings()
    transport.authorityFile = settings.value("FCM_CA_FILE") { path in
      _ = try Reading.file(path)
      return path
    }
    self.transport = transport
    guard let account else { return nil }
    self.account = account
  }

  /// The Android apps whose phones may register; empty turns it off.
  static func packages(reading settings: inout SettingsReader) -> [String] {
    settings.value("FCM_PACKAGES") { text in
      let names = text.split(separator: ",").map(String.init)
      let name = #/[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+/#
      guard !names.isEmpty, names.allSatisfy({ $0.wholeMatch(of: name) != nil }) else {
        throw Reading.Complaint("want package names, com.example.app,com.example.other")
      }
      return names
    } ?? []
  }

  func makeSender(_ process: RoleProcess, store: any Store, pushes: StageRoute) -> FCMSender {
    FCMSender(
      store: store, pushes: pushes,
      carrier: FCMTransport(account: account, url: url, settings: transport, time: process.time),
      project: account.projectID, time: process.time, log: process.log, metrics: process.metrics,
      tracer: process.tracer, lanes: process.lanes)
  }
}

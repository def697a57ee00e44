import APNsTransport
import Cryptography
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Simulator
import Vocabulary

/// `lockstep simulator`: stand-ins for push services with virtual phones and browsers, on loopback.
enum SimulatorCommand {
  static let options: [(flag: String, help: String)] = [
    ("--directory=", "where it writes ca.pem and its certificate. Required"),
    ("--api=", "where phones find the API. Default http://127.0.0.1:8080"),
    ("--apns-port=", "port of the stand-in for APNs. Default: chosen by the kernel"),
    (
      "--sandbox-port=",
      "a port of its own for the sandbox; without one, one port serves both environments"
    ),
    ("--web-push-port=", "port of the stand-in for a push service. Default: chosen by the kernel"),
    ("--fcm-port=", "port of the stand-in for FCM. Default: chosen by the kernel"),
    ("--control-port=", "port of the page and the control API. Default 8181"),
    ("--faults=", "file of faults that strike from the start; see below"),
    ("--seed=", "draws tokens and chances; the same seed draws the same"),
  ]
  static let notes = Fault.guide
  static let settingNames = [
    "LOG", "APNS_KEY_FILE", "APNS_KEY_ID", "APNS_TEAM_ID", "APNS_BUNDLE_ID",
    ContractFiles.settingName, "FCM_CREDENTIALS_FILE",
  ]

  static func run(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let log = Reading.log(&settings, role: "simulator")
    let simulator = try simulatorSettings(invocation, &settings)
    let stop = StopSignal()
    stop.raiseOnTermination()
    do {
      let running = try Simulator(simulator, log: log, now: { SystemTime().now() })
      print("phones:  http://127.0.0.1:\(running.controlPort)/")
      print("APNs:    https://localhost:\(running.apnsPort), authority \(running.authorityFile)")
      if running.sandboxPort != running.apnsPort {
        print("sandbox: https://localhost:\(running.sandboxPort)")
      }
      print("Web Push: https://localhost:\(running.webPushPort)")
      print("FCM:     https://localhost:\(running.fcmPort)")
      print("web app: http://127.0.0.1:\(running.controlPort)/app/")
      fflush(nil)
      running.run(until: stop)
    } catch {
      throw CommandFailure(.unavailable, "\(error)")
    }
  }

  private static func simulatorSettings(
    _ invocation: Invocation, _ settings: inout SettingsReader
  ) throws -> SimulatorSettings {
    let options = invocation.arguments.options
    guard let directory = options["directory"] else {
      throw CommandFailure(.usage, "simulator wants --directory DIR")
    }
    // The stand-in checks with the public half of the key that the sender signs with.
    let key = settings.required("APNS_KEY_FILE", want: "the path of a .p8 file") { path in
      var file = KeyFile(path: path)
      guard let content = try file.change(elapsed: .zero) else {
        throw Reading.Complaint("the file is empty")
      }
      return (content: content, key: try SigningKey(pem: content.text))
    }
    let team = settings.requiredText("APNS_TEAM_ID", want: "ten characters")
    let bundle = settings.requiredText("APNS_BUNDLE_ID", want: "the app's bundle id")
    let keyID = settings.text("APNS_KEY_ID") ?? key?.content.keyID
    if key != nil, keyID == nil {
      settings.refuse("APNS_KEY_ID", "want ten characters, or a file AuthKey_<KEYID>.p8")
    }
    let project = settings.value("FCM_CREDENTIALS_FILE") { path in
      let account = try ServiceAccount(json: Reading.file(path))
      return FCMProject(
        projectID: account.projectID, clientEmail: account.clientEmail, key: account.key,
        tokenURL: account.tokenURL)
    }
    let contracts = ContractFiles.catalog(reading: &settings)
    guard settings.problems.isEmpty, let key, let keyID else { throw Reading.failure(settings) }
    var simulator = SimulatorSettings(
      certificateDirectory: directory, bundleID: bundle, teamID: team, keyID: keyID,
      providerPublicKey: key.key.publicKey, apiURL: options["api"] ?? "http://127.0.0.1:8080")
    simulator.contracts = contracts
    simulator.apnsPort = try port("apns-port", options, default: 0)
    if options["sandbox-port"] != nil {
      simulator.sandboxPort = try port("sandbox-port", options, default: 0)
    }
    simulator.webPushPort = try port("web-push-port", options, default: 0)
    simulator.fcmPort = try port("fcm-port", options, default: 0)
    simulator.fcmProject = project
    simulator.controlPort = try port("control-port", options, default: 8181)
    if let path = options["faults"] { simulator.faults = try faults(path) }
    if let seed = options["seed"] {
      guard let number = UInt64(seed) else {
        throw CommandFailure(.usage, "--seed \(seed): want a whole number")
      }
      simulator.seed = number
    }
    return simulator
  }

  private static func port(_ name: String, _ options: [String: String], default fallback: UInt16)
    throws -> UInt16
  {
    guard let text = options[name] else { return fallback }
    guard let port = UInt16(text) else {
      throw CommandFailure(.usage, "--\(name) \(text): want a port from 0 to 65535")
    }
    return port
  }

  private static func faults(_ path: String) throws -> [Fault] {
    do {
      return try Fault.list(reading: Reading.file(path))
    } catch {
      throw CommandFailure(.configuration, "--faults \(path): \(error)")
    }
  }
}

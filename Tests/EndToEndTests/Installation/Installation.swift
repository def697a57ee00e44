import Cryptography
import Foundation
import Glibc
import HTTPClient
import TestSupport
import Testing
import Vocabulary

/// Lockstep on this machine, for one test: a directory with keys, database and logs, a virtual host
/// of its own, and processes on ports of their own. Everything goes with the instance.
final class Installation {
  static let patience: Duration = .seconds(60)
  static let bundleID = "app.example.cook"

  let directory: URL
  let broker: BrokerUnderTest
  let client = HTTPClient(timeout: .seconds(15))
  let keys: JSONWebKeySet
  private let ports: [UInt16]
  private let leash: Leash
  private(set) var children: [Role: Child] = [:]
  private var topologyAppliedAt = ContinuousClock.now
  /// Of every process, by full name; a test may change it before it starts one.
  var settings: [String: String]
  /// Further flags of the simulator, `--faults FILE`; a test may give some before it is started.
  var simulatorOptions: [String] = []
  /// What one role has besides or instead.
  var roleSettings: [Role: [String: String]] = [:]

  /// `broker` nil takes a virtual host on the broker that all tests share.
  init(broker: BrokerUnderTest? = nil) throws {
    self.broker = try broker ?? BrokerUnderTest()
    directory = FileManager.default.temporaryDirectory
      .appending(path: "lockstep-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    leash = try Leash(directory)
    let path = directory.path(percentEncoded: false)
    let made = try Programs.run(Programs.demo, ["keys", path])
    try #require(made.code == 0, "\(made.errors)")
    keys = try JSONWebKeySet(
      parsing: Data(contentsOf: directory.appending(path: "auth-keys.json")))
    let free = try Programs.run(Programs.demo, ["free-ports", "\(Role.allCases.count + 4)"])
    ports = free.output.split(separator: "\n").compactMap { UInt16($0) }
    try #require(ports.count == Role.allCases.count + 4, "\(free.errors)")
    settings = [
      "LOCKSTEP_AMQP_URL": self.broker.url,
      "LOCKSTEP_QUEUES_FILE": Programs.queuesFile.path(percentEncoded: false),
      "LOCKSTEP_DATABASE_URL": "sqlite://\(path)/lockstep.sqlite",
      "LOCKSTEP_AUTH_KEYS_FILE": "\(path)/auth-keys.json",
      "LOCKSTEP_APNS_KEY_FILE": "\(path)/AuthKey_DEMO123456.p8",
      "LOCKSTEP_APNS_TEAM_ID": "DEMOTEAM01",
      "LOCKSTEP_APNS_BUNDLE_ID": Self.bundleID,
      "LOCKSTEP_APNS_URL_PRODUCTION": "https://localhost:\(ports[0])",
      "LOCKSTEP_APNS_URL_SANDBOX": "https://localhost:\(ports[0])",
      "LOCKSTEP_APNS_CA_FILE": "\(path)/ca.pem",
      "LOCKSTEP_HTTP_ADDR": "127.0.0.1:\(ports[1])",
      // The tests ask more often than a person does.
      "LOCKSTEP_RATE_PER_USER": "10000",
      "LOCKSTEP_LOG": "text:debug",
    ]
  }

  /// With the topology in place and `roles` ready.
  convenience init(running roles: [Role], broker: BrokerUnderTest? = nil) throws {
    try self.init(broker: broker)
    try applyTopology()
    // The sender trusts an authority whose file the simulator writes.
    if roles.contains(.simulator) { try start(.simulator) }
    let others = roles.filter { $0 != .simulator }
    for role in others { try launch(role) }
    for role in others { try awaitReady(role) }
  }

  deinit { leash.letGo() }

  var apiURL: String { "http://127.0.0.1:\(ports[1])" }
  var simulatorURL: String { "http://127.0.0.1:\(port(of: .simulator))" }
  var phones: Phones { Phones(self) }

  /// Of the admin port, or of the simulator's control API.
  func port(of role: Role) -> UInt16 { ports[3 + (Role.allCases.firstIndex(of: role) ?? 0)] }

  /// Of the simulator's stand-in for browsers' push services.
  var webPushPort: UInt16 { ports[2] }

  /// Of the simulator's stand-in for FCM.
  var fcmPort: UInt16 { ports[Role.allCases.count + 3] }

  func adminURL(of role: Role) -> String { "http://127.0.0.1:\(port(of: role))" }

  @discardableResult
  func applyTopology() throws -> Programs.Outcome {
    let outcome = try Programs.lockstep("topology", "apply", environment: settings)
    try #require(outcome.code == 0, "\(outcome.errors)")
    topologyAppliedAt = .now
    return outcome
  }

  /// Waits until the broker may be killed. RabbitMQ 3.10 writes its list of quorum queues some
  /// moments after a declaration; killed before that, it brings the last queue back empty and
  /// without a leader, and never confirms what is published to it.
  func awaitKeptTopology() throws {
    try wait(for: "the topology to be on the broker's disk") {
      .now - topologyAppliedAt > .seconds(5)
    }
  }

  // MARK: Processes

  /// Starts a role and waits until it is ready.
  func start(_ role: Role) throws {
    try launch(role)
    try awaitReady(role)
  }

  func launch(_ role: Role) throws {
    var environment = settings.merging(roleSettings[role] ?? [:]) { _, own in own }
    var arguments = [role.command]
    if role == .simulator {
      arguments +=
        [
          "--directory", directory.path(percentEncoded: false), "--apns-port", "\(ports[0])",
          "--control-port", "\(port(of: .simulator))", "--web-push-port", "\(webPushPort)",
          "--fcm-port", "\(fcmPort)",
          "--api", apiURL,
        ] + simulatorOptions
    } else {
      environment["LOCKSTEP_ADMIN_ADDR"] = "127.0.0.1:\(port(of: role))"
    }
    children[role] = try spawn(role.rawValue, Programs.lockstep, arguments, environment)
  }

  /// A process that ends with the installation. `name`: of its log and its pid file.
  func spawn(
    _ name: String, _ program: URL, _ arguments: [String], _ environment: [String: String] = [:]
  ) throws -> Child {
    let log = directory.appending(path: "\(name).log")
    let child = try Child(program, arguments, environment: environment, output: log, errors: log)
    try leash.note(child, name)
    return child
  }

  /// It has ended, and its number may soon be another's.
  func forget(_ name: String) { leash.forget(name) }

  func awaitReady(_ role: Role) throws {
    let path = role == .simulator ? "\(simulatorURL)/phones" : "\(adminURL(of: role))/readyz"
    try wait(for: "\(role.rawValue) to be ready") {
      guard children[role]?.isRunning == true else { throw Fatal("\(role.rawValue) has ended") }
      return try client.send("GET", path).status == 200
    }
  }

  /// SIGKILL: what a power cut or the kernel does.
  func kill(_ role: Role) {
    children[role]?.kill()
    leash.forget(role.rawValue)
  }

  /// SIGTERM, as a supervisor does.
  ///
  /// - Returns: the exit code.
  @discardableResult
  func end(_ role: Role) throws -> Int32 {
    let child = try #require(children[role])
    child.send(SIGTERM)
    return try awaitEnd(of: role)
  }

  /// - Returns: the exit code.
  func awaitEnd(of role: Role) throws -> Int32 {
    guard let code = children[role]?.exitCode(within: .seconds(30)) else {
      throw Unexpected("\(role.rawValue) does not end\n\(logs())")
    }
    leash.forget(role.rawValue)
    return code
  }

  // MARK: Waiting and looking

  /// A condition throws it when waiting has become pointless.
  struct Fatal: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// Waits until `condition` is true; what it throws counts as not yet.
  ///
  /// - Throws: ``Unexpected`` with what was waited for, the last error and the ends of all logs.
  func wait(
    for what: String, within limit: Duration = patience, until condition: () throws -> Bool
  ) throws {
    var trouble = ""
    var isPointless = false
    let isTrue = becomesSeen(within: limit) {
      do {
        trouble = ""
        return try condition()
      } catch {
        trouble = ": \(error)"
        isPointless = error is Fatal
        return isPointless
      }
    }
    guard isTrue, !isPointless else {
      throw Unexpected("waited in vain for \(what)\(trouble)\n\(logs())")
    }
  }

  func log(of role: Role) throws -> String { try logText(role.rawValue) }

  /// What a process wrote, by the name it was spawned with.
  func logText(_ name: String) throws -> String {
    try String(contentsOf: directory.appending(path: "\(name).log"), encoding: .utf8)
  }

  /// What waits where: ready, unacknowledged, and all messages of each queue that holds some, as
  /// the broker knew some seconds ago. What it could not hand over is in the last figure alone.
  private func depths() -> String {
    let path =
      "/api/queues/\(broker.virtualHost)"
      + "?columns=name,messages,messages_ready,messages_unacknowledged"
    // A broker that is away tells nothing, and what is told only explains a failure.
    guard let answer = try? broker.manage("GET", path),
      case .array(let queues)? = try? JSONValue(parsing: answer.body)
    else { return "no answer" }
    return queues.compactMap { queue in
      let counts = [
        queue["messages_ready"]?.whole ?? 0, queue["messages_unacknowledged"]?.whole ?? 0,
        queue["messages"]?.whole ?? 0,
      ]
      return counts == [0, 0, 0]
        ? nil : "\(queue["name"]?.text ?? "") \(counts[0])+\(counts[1]) of \(counts[2])"
    }.joined(separator: ", ")
  }

  /// The end of each log.
  func logs(lines: Int = 12) -> String {
    let path = directory.path(percentEncoded: false)
    // What is told only explains a failure.
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    return "── queues\n\(depths())\n"
      + names.filter { $0.hasSuffix(".log") }.sorted().compactMap { name in
        guard let text = try? logText(String(name.dropLast(4))) else { return nil }
        return "── \(name)\n"
          + text.split(separator: "\n").suffix(lines).joined(separator: "\n")
      }.joined(separator: "\n")
  }

  /// `/metrics` of a role.
  func metrics(of role: Role) throws -> String {
    let answer = try client.send("GET", "\(adminURL(of: role))/metrics")
    try #require(answer.status == 200)
    return answer.text
  }

  /// One value of `/metrics`, by its series as it is written, `lockstep_outbox_events`; 0 when
  /// there is no such line yet.
  func metric(_ series: String, of role: Role) throws -> Double {
    let line = try metrics(of: role).split(separator: "\n").first { $0.hasPrefix(series + " ") }
    return line.flatMap { Double($0.dropFirst(series.count + 1)) } ?? 0
  }

  /// What `/readyz` of a role answers.
  func readiness(of role: Role) throws -> (code: Int, status: String?) {
    let answer = try client.send("GET", "\(adminURL(of: role))/readyz")
    return (answer.status, try JSONValue(parsing: answer.body)["status"]?.text)
  }
}

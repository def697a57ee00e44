import Cryptography
import Foundation
import Pipeline
import RabbitMQBroker
import Replay
import ServiceRuntime
import Vocabulary

/// `lockstep replay FILE`: plays a recording against a running installation and a simulator, and
/// says whether anything was lost, doubled or out of order.
enum ReplayCommand {
  static let operand = "FILE (--speed 10x | --rate 2000/s | --max)"
  static let settingNames =
    ["LOG"] + BrokerWiring.settingNames + Reading.callerKeyNames + StoreWiring.settingNames
    + [ContractFiles.settingName]
  static let options: [(flag: String, help: String)] = [
    ("--speed=", "the recorded gaps, so many times faster: 10x"),
    ("--rate=", "so many events a second: 2000/s"),
    ("--max", "as fast as the broker confirms"),
    ("--report=", "a folder for report.html and report.json"),
    ("--simulator=", "its control API. Default http://127.0.0.1:8181"),
    ("--api=", "where phones register. Default http://127.0.0.1:8080"),
    ("--seconds=", "plays no longer than that, 1 to 86400. Default: to the end of the file"),
    ("--drain-seconds=", "how long queues may take to run empty, 1 to 86400. Default 300"),
    ("--processes=", "a folder of NAME.pid files: what each takes goes into the report"),
    ("--run=", "names the run, small letters and digits. Default: a new name"),
    ("--resume-from=", "passes over so many events; with --run of the run that was stopped"),
    ("--no-resume", "never to go on: its phones leave the simulator even before the file's end"),
    ("--json", "the report on standard output"),
  ]

  static func run(_ invocation: Invocation) throws {
    let time = SystemTime()
    var settings = invocation.settings
    let log = Reading.log(&settings, role: "replay")
    let broker = BrokerWiring(reading: &settings)
    let keys = Reading.callerKeys(
      &settings, want: "the path of a JWK Set with an oct key")
    // Only to tell what was expired or dead from what was lost.
    let database =
      settings.text("DATABASE_URL") == nil ? nil : StoreWiring.address(reading: &settings)
    let contracts = ContractFiles.catalog(reading: &settings)
    let plan = try plan(invocation, exchange: broker?.topology.eventsExchange ?? "", time: time)
    guard settings.problems.isEmpty, let broker, let keys else { throw Reading.failure(settings) }
    guard keys.sign(claims: ["sub": "replay"]) != nil else {
      throw CommandFailure(.configuration, "the key file holds no oct key to mint tokens with")
    }
    var test = plan
    test.contracts = contracts
    test.queues = Set(broker.workQueues)
    let stop = StopSignal()
    stop.raiseOnTermination()
    let publisher = RabbitMQPublisher(
      broker.address, name: "lockstep replay", time: time, log: log)
    defer { publisher.close() }
    let equipment = LoadTest.Equipment(
      publisher: publisher, depths: depths(broker, time: time),
      fates: try database.map { StoredFates(try StoreWiring.look($0)) },
      token: { user in mint(user, keys, now: time.now()) }, time: time, log: log)
    let telling = Telling(pace: test.pace, resumeFrom: test.resumeFrom, time: time)
    let report: LoadTestReport
    do {
      report = try LoadTest(test, equipment) { telling.tell($0) }.run(until: stop)
    } catch let unreadable as RecordingUnreadable {
      throw CommandFailure(.noInput, "\(unreadable)")
    } catch {
      throw CommandFailure(.unavailable, "\(error)")
    }
    telling.end()
    try show(report, invocation)
  }

  private static func plan(_ invocation: Invocation, exchange: String, time: SystemTime) throws
    -> LoadTest.Settings
  {
    let (options, words) = (invocation.arguments.options, invocation.arguments.words)
    guard words.count == 1, let path = words.first else {
      throw CommandFailure(.usage, "replay wants one file: lockstep replay \(operand)")
    }
    let names = try options["run"].map { text in
      guard let names = RunNames(text) else {
        throw CommandFailure(
          .usage, "--run \(text): want 1 to \(RunNames.nameMax) small letters and digits")
      }
      return names
    }
    guard options["resume-from"] == nil || names != nil else {
      throw CommandFailure(.usage, "--resume-from wants --run of the run that was stopped")
    }
    var plan = LoadTest.Settings(
      path: path, pace: try pace(options), names: names ?? RunNames.drawn(at: time.now()),
      eventsExchange: exchange, simulatorURL: options["simulator"] ?? "http://127.0.0.1:8181",
      apiURL: options["api"] ?? "http://127.0.0.1:8080")
    plan.resumeFrom = try CommandNumber.whole(
      "resume-from", options, in: 0...Int.max, default: 0)
    if options["seconds"] != nil {
      plan.playingMax = .seconds(
        try CommandNumber.whole("seconds", options, in: 1...86_400, default: 1))
    }
    plan.drainMax = .seconds(
      try CommandNumber.whole("drain-seconds", options, in: 1...86_400, default: 300))
    plan.canResume = options["no-resume"] == nil
    plan.processes = try options["processes"].map(processes) ?? [:]
    return plan
  }

  private static func pace(_ options: [String: String]) throws -> Pace {
    let given = ["speed", "rate", "max"].filter { options[$0] != nil }
    guard given.count == 1 else {
      throw CommandFailure(.usage, "replay wants one of --speed 10x, --rate 2000/s, --max")
    }
    if let text = options["speed"] {
      guard let pace = Pace(speed: text) else {
        throw CommandFailure(
          .usage,
          "--speed \(text): want a factor such as 10x, from \(Pace.speeds.lowerBound) to "
            + "\(Pace.speeds.upperBound)")
      }
      return pace
    }
    guard let text = options["rate"] else { return .max }
    guard let pace = Pace(rate: text) else {
      throw CommandFailure(
        .usage,
        "--rate \(text): want events a second such as 2000/s, from \(Pace.rates.lowerBound) to "
          + "\(Pace.rates.upperBound)")
    }
    return pace
  }

  /// The processes whose pid files stand in a folder.
  private static func processes(_ folder: String) throws -> [String: Int32] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      throw CommandFailure(.noInput, "--processes \(folder): \(error)")
    }
    var processes: [String: Int32] = [:]
    for name in names where name.hasSuffix(".pid") {
      // A process that ends meanwhile takes its file away.
      let text = try? String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
      guard let pid = text.flatMap({ Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) })
      else { continue }
      processes[String(name.dropLast(4))] = pid
    }
    return processes
  }

  private static func depths(_ broker: BrokerWiring, time: SystemTime) -> DepthLook {
    let queues = broker.workQueues + broker.deadQueues
    return {
      let counter = QueueCounter(broker.address, time: time)
      // A broker that is away has no depths; the player says that it is.
      return { try? counter.counts(of: queues).mapValues(\.ready) }
    }
  }

  private static func mint(_ user: UserID, _ keys: JSONWebKeySet, now: UnixTime) -> String {
    let claims: JSONValue = [
      "sub": .string(user.text), "scope": "user", "iat": .integer(now.seconds),
      "exp": .integer(now.seconds + 24 * 3600),
    ]
    // It was tried before the first phone was made.
    return keys.sign(claims: claims) ?? ""
  }

  // MARK: The end

  private static func show(_ report: LoadTestReport, _ invocation: Invocation) throws {
    let prints = Prints(invocation)
    if let folder = invocation.arguments.options["report"] { try write(report, to: folder, prints) }
    if prints.isJSON {
      print(String(decoding: JSON.encoded(report), as: UTF8.self))
    } else {
      for line in report.lines { print(line.visible) }
    }
    if let place = report.resumeFrom, invocation.arguments.options["no-resume"] == nil {
      prints.aside("go on with: --run \(report.run) --resume-from \(place)")
    }
    guard report.verdict.isGood else {
      for fault in report.verdict.faults.prefix(10) {
        prints.aside("\(fault.session) \(fault.user): \(fault.what)")
      }
      throw CommandFailure(.differs, "the verdict is not 0 lost, 0 doubled, 0 out of order")
    }
  }

  private static func write(_ report: LoadTestReport, to folder: String, _ prints: Prints) throws {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true)
      try PrivateFile.write(JSON.encoded(report), to: "\(folder)/report.json")
      try PrivateFile.write(Data(ReportPage(report).html.utf8), to: "\(folder)/report.html")
      prints.aside("report: \(folder)/report.html")
    } catch {
      throw CommandFailure(.unavailable, "--report \(folder): \(error)")
    }
  }
}

extension BrokerWiring {
  fileprivate var deadQueues: [String] { topology.deadQueues.map(\.name) }

  /// The queues of the stages, their rungs included.
  fileprivate var workQueues: [String] {
    let stages = Set(StageName.allCases.map(\.rawValue))
    return topology.queues.filter { queue in
      switch queue.purpose {
      case .work(let owner), .rung(let owner, _): stages.contains(owner)
      case .dead, .unroutable: false
      }
    }.map(\.name)
  }
}

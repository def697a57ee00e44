import ActivityContracts
import Foundation
import Pipeline
import Pushes
import RabbitMQBroker
import Replay
import ServiceRuntime
import Sessions
import Vocabulary

/// `lockstep record`: writes every event to a file until it is stopped, beside the workers and
/// without holding them up.
enum RecordCommand {
  static let settingNames =
    ["LOG"] + BrokerWiring.settingNames + StoreWiring.settingNames + [ContractFiles.settingName]
  static let options: [(flag: String, help: String)] = [
    ("--to=", "a new file, F.jsonl.gz; further ones are F.2.jsonl.gz, … Required"),
    ("--raw", "keeps users, names and texts as they are. Default: stand-ins, safe to share"),
    ("--minutes=", "ends after so long, 1 to 10080. Default: when it is stopped"),
    ("--file-minutes=", "begins a new file after so long, 1 to 10080. Default 60"),
    ("--file-megabytes=", "begins a new file at this compressed size, 1 to 10000. Default 256"),
  ]

  static func run(_ invocation: Invocation) throws {
    let options = invocation.arguments.options
    guard let path = options["to"], !path.isEmpty else {
      throw CommandFailure(.usage, "record wants --to F.jsonl.gz")
    }
    var settings = invocation.settings
    let log = Reading.log(&settings, role: "record")
    let broker = BrokerWiring(reading: &settings)
    // Only to know which kinds of token each user has registered.
    let database =
      settings.text("DATABASE_URL") == nil ? nil : StoreWiring.address(reading: &settings)
    let contracts = ContractFiles.catalog(reading: &settings)
    guard settings.problems.isEmpty, let broker else { throw Reading.failure(settings) }
    var recording = Recorder.Settings(
      path: path, source: "\(broker.address), exchange \(broker.topology.eventsExchange)",
      standIns: options["raw"] == nil ? StandIns() : nil)
    recording.contracts = contracts
    if options["minutes"] != nil {
      recording.span = .seconds(
        60 * (try CommandNumber.whole("minutes", options, in: 1...10_080, default: 1)))
    }
    recording.file_span = .seconds(
      60 * (try CommandNumber.whole("file-minutes", options, in: 1...10_080, default: 60)))
    recording.file_bytes_max =
      1_048_576 * (try CommandNumber.whole("file-megabytes", options, in: 1...10_000, default: 256))
    let stop = StopSignal()
    stop.raiseOnTermination()
    let time = SystemTime()
    let registry = try database.map { RegisteredKinds(try StoreWiring.look($0)) }
    let recorder = Recorder(
      recording,
      tap: RabbitMQTap(broker.address, exchange: broker.topology.eventsExchange, time: time),
      time: time, log: log, lookUp: { registry?.user($0) })
    let line = StatusLine(every: .seconds(10))
    let report: Recorder.Report
    do {
      report = try recorder.run(until: stop) {
        line.show("\($0.events) events, \($0.missed) missed", elapsed: time.elapsed())
      }
    } catch {
      throw CommandFailure(.unavailable, "record: \(error)")
    }
    line.end()
    print(
      "\(report.events) events in \(report.files.joined(separator: ", ")), "
        + "\(report.missed) missed, \(report.leftOut) left out")
    if let reason = report.leftOutBecause {
      print("the first that was left out: \(reason.visible)")
    }
  }
}

/// Asks the token registry what a user's phones are reached by.
private final class RegisteredKinds {
  private let store: any Store

  init(_ store: any Store) { self.store = store }

  /// Nil when the registry cannot be asked.
  func user(_ user: UserID) -> RecordedUser? {
    // A recording must not fail because the database is busy; the file then says "assumed".
    try? store.read { rows in
      let registered = try rows.tokenRows(TokenQuery(user: user, isPruned: false))
        .map(\.registration)
      let cook = CookSuggestActivityAttributes.activityType
      // A token that names no type is of a cook session's app.
      let own = registered.filter { ($0.attributesType ?? cook) == cook }
      let starting = registered.filter { $0.kind == .pushToStart }.map(\.attributesType)
      let locale = try rows.profiles(of: [user])[user]?.locale
      return RecordedUser(
        user: user, tokens: Set(own.map(\.kind.rawValue)).sorted(), assumed: nil, locale: locale,
        apps: starting.contains(nil)
          ? nil : Set(starting.compactMap(\.self)).subtracting([cook]).sorted())
    }
  }
}

/// Reads numbers of options.
enum CommandNumber {
  static func whole(
    _ name: String, _ options: [String: String], in range: ClosedRange<Int>, default fallback: Int
  ) throws -> Int {
    guard let text = options[name] else { return fallback }
    guard let number = Int(text), range.contains(number) else {
      throw CommandFailure(
        .usage,
        "--\(name) \(text): want a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }
}

import Foundation
import Pipeline
import Replay
import ServiceRuntime
import Vocabulary

/// `lockstep generate`: writes a recording of lifelike traffic, for load tests before there is real
/// traffic to record.
enum GenerateCommand {
  static let options: [(flag: String, help: String)] = [
    ("--to=", "a new file, F.jsonl.gz. Required"),
    ("--minutes=", "how long the evening is, 1 to 1440. Default 30"),
    ("--sessions-per-minute=", "that begin at the peak, 1 to 100000. Default 60"),
    (
      "--activities-per-minute=",
      "that begin at the peak, 0 to 100000: deliveries to Shiny apps, and lists for the contract"
        + " in deploy/contracts/shopping.json. Default 0: what a seed gave before there were any"
    ),
    ("--people=", "among whom pairs are drawn, 2 to 20000. Default 2000"),
    ("--seed=", "the same seed gives the same evening. Default 1"),
    ("--begin=", "when it begins. Default 2026-06-18T17:30:00Z"),
  ]
  private static let beginDefault = "2026-06-18T17:30:00Z"

  static func run(_ invocation: Invocation) throws {
    let options = invocation.arguments.options
    guard let path = options["to"], !path.isEmpty else {
      throw CommandFailure(.usage, "generate wants --to F.jsonl.gz")
    }
    let begin = options["begin"] ?? beginDefault
    // Up to its end a year has four digits, as a session's day is written.
    guard let moment = UnixTime(begin), UnixTime((moment + .seconds(2 * 86_400)).rfc3339) != nil
    else {
      throw CommandFailure(.usage, "--begin \(begin): want a moment as \(beginDefault)")
    }
    var plan = Evening.Plan(begin: moment)
    plan.span = .seconds(
      60 * (try CommandNumber.whole("minutes", options, in: 1...1440, default: 30)))
    plan.sessionsPerMinute = Double(
      try CommandNumber.whole("sessions-per-minute", options, in: 1...100_000, default: 60))
    plan.activitiesPerMinute = Double(
      try CommandNumber.whole("activities-per-minute", options, in: 0...100_000, default: 0))
    plan.people = try CommandNumber.whole("people", options, in: 2...20_000, default: 2000)
    plan.seed = UInt64(try CommandNumber.whole("seed", options, in: 0...Int.max, default: 1))
    do {
      let report = try EveningRecording.write(plan, to: path)
      print(
        "\(report.events) events of \(report.sessions) sessions"
          + (report.activities > 0 ? ", \(report.activities) activities" : "")
          + " and \(report.users) people in \(path)"
      )
    } catch {
      throw CommandFailure(.unavailable, "--to \(error)")
    }
  }
}

import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Vocabulary

/// `lockstep dead`: looks at dead letters, sends them back to where they failed, or drops them.
///
/// Looking harms nothing: see ``DeadQueueWalk``. What is printed holds no whole push token.
enum DeadCommand {
  static let operand = "list | show ID | replay (ID | --reason R | --all) | drop (…)"
  static let settingNames = ["LOG"] + BrokerWiring.settingNames
  static let options: [(flag: String, help: String)] = [
    ("--reason=", "those of one reason, as list shows it"),
    ("--all", "all that are looked at"),
    ("--stage=", "only of one stage or queue: apns, kitchen, unroutable. Default: all"),
    ("--limit=", "messages looked at per queue, 1 to 65535, the oldest first. Default 10000"),
    ("--dry-run", "only says what would be done"),
    (
      "--to-file=",
      "replay: writes them to a new file, as JSON lines, and leaves them where they are"
    ),
    ("--raw", "with --to-file: whole push tokens instead of their fingerprints"),
    ("--json", "an array of flat objects"),
  ]
  private static let limitDefault = 10_000

  static func run(_ invocation: Invocation) throws {
    let arguments = invocation.arguments
    var words = arguments.words[...]
    let verb = words.popFirst() ?? ""
    guard ["list", "show", "replay", "drop"].contains(verb) else {
      throw CommandFailure(.usage, "dead wants: \(operand)")
    }
    let selection = try selection(verb, words, arguments.options)
    let limitText = arguments.options["limit"] ?? "\(limitDefault)"
    guard let limit = Int(limitText), (1...DeadQueueWalk.heldMax).contains(limit) else {
      throw CommandFailure(
        .usage, "--limit \(limitText): want a whole number from 1 to \(DeadQueueWalk.heldMax)")
    }
    var settings = invocation.settings
    let log = Reading.log(&settings, role: "dead")
    let broker = BrokerWiring(reading: &settings)
    guard settings.problems.isEmpty, let broker else { throw Reading.failure(settings) }
    let desk = DeadLetterDesk(
      queues: try queues(of: broker.topology, stage: arguments.options["stage"]), limit: limit,
      topology: broker.topology, prints: Prints(invocation),
      walk: DeadQueueWalk(broker.address, time: SystemTime(), log: log))
    defer { desk.walk.close() }
    do {
      switch verb {
      case "list": try desk.list()
      case "show": try desk.show(selection)
      case "drop": try desk.drop(selection, isDry: arguments.options["dry-run"] != nil)
      default:
        if let path = arguments.options["to-file"] {
          guard arguments.options["dry-run"] == nil else {
            throw CommandFailure(.usage, "--to-file writes, --dry-run does not: want one of them")
          }
          try desk.write(selection, to: path, isRaw: arguments.options["raw"] != nil)
        } else {
          try desk.replay(selection, isDry: arguments.options["dry-run"] != nil)
        }
      }
    } catch let lost as BrokerLost {
      throw CommandFailure(.unavailable, "\(lost)")
    }
  }

  private static func selection(
    _ verb: String, _ words: ArraySlice<String>, _ options: [String: String]
  ) throws -> DeadLetterSelection {
    var selections: [DeadLetterSelection] = words.map { .id($0) }
    if let reason = options["reason"] { selections.append(.reason(FoldedReason.of(reason))) }
    if options["all"] != nil { selections.append(.all) }
    let mayDryRun = verb == "replay" || verb == "drop"
    for (option, isFit) in [
      ("dry-run", mayDryRun), ("to-file", verb == "replay"),
      ("raw", options["to-file"] != nil),
    ] where options[option] != nil && !isFit {
      throw CommandFailure(.usage, "dead \(verb) has no --\(option)")
    }
    if verb == "list" {
      guard selections.isEmpty else { throw CommandFailure(.usage, "dead list wants nothing more") }
      return .all
    }
    guard selections.count == 1 else {
      let wanted = verb == "show" ? "an ID, --reason R or --all" : "one of ID, --reason R, --all"
      throw CommandFailure(.usage, "dead \(verb) wants \(wanted)")
    }
    return selections[0]
  }

  /// The queues to look into with what their messages failed in.
  private static func queues(of topology: Topology, stage: String?) throws
    -> [(name: String, stage: String)]
  {
    let all = topology.deadQueues.map { queue in
      if case .dead(let owner) = queue.purpose {
        (name: queue.name, stage: owner)
      } else {
        (name: queue.name, stage: queue.name)
      }
    }
    guard let stage else { return all }
    let chosen = all.filter { $0.stage == stage || $0.name == stage }
    guard !chosen.isEmpty else {
      let known = all.map(\.stage).joined(separator: ", ")
      throw CommandFailure(.usage, "--stage \(stage): there are \(known)")
    }
    return chosen
  }
}

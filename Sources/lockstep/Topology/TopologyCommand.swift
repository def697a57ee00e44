import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Vocabulary

/// `lockstep topology`: compares the broker with queues.yaml, and declares what is missing. Nothing
/// is ever deleted.
enum TopologyCommand {
  static let operand = "plan | apply | export | users --passwords-file F | move QUEUE TO-QUEUE"
  static let settingNames = ["LOG"] + BrokerWiring.settingNames + ["AMQP_MANAGEMENT_URL"]
  static let options: [(flag: String, help: String)] = [
    ("--json", "plan: an array of flat objects"),
    ("--alerts", "export: Prometheus' alert rules, instead of RabbitMQ's definitions"),
    ("--keda", "export: KEDA's ScaledObjects instead"),
    ("--dashboard", "export: a Grafana dashboard instead"),
    ("--passwords-file=", "users: a file only you can read, one user=password a line"),
  ]

  static func run(_ invocation: Invocation) throws {
    let words = invocation.arguments.words
    guard let verb = words.first, words.count == (verb == "move" ? 3 : 1) else {
      throw CommandFailure(.usage, "topology wants: \(operand)")
    }
    switch verb {
    case "plan": try plan(invocation)
    case "apply": try TopologyApplying.run(invocation)
    case "export": try export(invocation)
    case "users": try TopologyUsers.run(invocation)
    case "move": try move(invocation, from: words[1], to: words[2])
    default: throw CommandFailure(.usage, "topology wants: \(operand)")
    }
  }

  // MARK: Plan and export

  private static func plan(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let broker = BrokerWiring(reading: &settings)
    let management = ManagementWiring.required(&settings, broker: broker)
    guard settings.problems.isEmpty, let broker, let management else {
      throw Reading.failure(settings)
    }
    let plan = try ManagementWiring.attempt {
      TopologyPlan(broker.topology, found: try management.contents())
    }
    let prints = Prints(invocation)
    var table = Table(["kind", "object", "detail"])
    for drift in plan.drifts {
      table.add([.string(drift.kind.rawValue), .string(drift.object), .string(drift.detail)])
    }
    if prints.isJSON {
      print(table.json)
    } else {
      for drift in plan.drifts { print(drift) }
      if plan.drifts.isEmpty { print("the broker is as queues.yaml says") }
    }
    for note in plan.notes { prints.aside("note: \(note)") }
    printRecipes(plan.queuesToRemake, plan.exchangesToRemake, broker, prints)
    if !plan.drifts.isEmpty {
      throw CommandFailure(.differs, "\(plan.drifts.count) differences")
    }
  }

  static func printRecipes(
    _ queues: [String], _ exchanges: [String], _ broker: BrokerWiring, _ prints: Prints
  ) {
    let host = broker.address.virtualHost
    // An exchange first: the queues' recipes end with all bindings in place.
    for name in exchanges {
      prints.below(
        "\n" + MigrationRecipe.lines(exchange: name, virtualHost: host).joined(separator: "\n"))
    }
    for name in queues.prefix(recipesMax) {
      let lines = MigrationRecipe.lines(queue: name, in: broker.topology, virtualHost: host)
      prints.below("\n" + lines.joined(separator: "\n"))
    }
    if queues.count > recipesMax {
      prints.below(
        "\n# and in the same way: \(queues.dropFirst(recipesMax).joined(separator: ", "))")
    }
  }

  private static let recipesMax = 3

  private static func export(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let topology = BrokerWiring.topology(reading: &settings)
    // Only the virtual host's name is taken of it: no broker need be there.
    let address = settings.value("AMQP_URL", isSecret: true) { try BrokerAddress(url: $0) }
    guard settings.problems.isEmpty, let topology else { throw Reading.failure(settings) }
    let forms = ["alerts", "keda", "dashboard"].filter { invocation.arguments.options[$0] != nil }
    guard forms.count < 2 else {
      throw CommandFailure(.usage, "export wants one of --alerts, --keda, --dashboard")
    }
    switch forms.first {
    case "alerts": return print(AlertRulesFile.text(topology))
    case "keda": return print(ScalingFile.text(topology))
    case "dashboard": return print(try DashboardFile.text(topology))
    default: break
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    let definitions = topology.definitions(virtualHost: address?.virtualHost ?? "/")
    print(String(decoding: try encoder.encode(definitions), as: UTF8.self))
  }

  // MARK: Move

  /// Publishes each message to the other queue and takes it from the first once that is confirmed.
  private static func move(_ invocation: Invocation, from: String, to: String) throws {
    var settings = invocation.settings
    let log = Reading.log(&settings, role: "topology")
    let broker = BrokerWiring(reading: &settings)
    guard settings.problems.isEmpty, let broker else { throw Reading.failure(settings) }
    guard from != to else { throw CommandFailure(.usage, "move wants two queues") }
    let walk = DeadQueueWalk(broker.address, time: SystemTime(), log: log)
    defer { walk.close() }
    var moved = 0
    do {
      while true {
        let report = try walk.walk(from, atMost: DeadQueueWalk.heldMax) { letter in
          .replay(OutgoingMessage(exchange: "", routingKey: to, message: letter.moved))
        }
        moved += report.replayed
        if let refusal = report.refusal {
          throw CommandFailure(.unavailable, "\(moved) moved, then queue \(to): \(refusal)")
        }
        if report.seen == 0 { break }
      }
    } catch let lost as BrokerLost {
      throw CommandFailure(.unavailable, "\(moved) moved, then: \(lost)")
    }
    print("\(moved) messages moved from \(from) to \(to)")
  }
}

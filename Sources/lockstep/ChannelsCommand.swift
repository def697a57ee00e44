import APNsTransport
import Activities
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Vocabulary

/// `lockstep channels list | read ID | delete ID`: the broadcast channels that Apple keeps for an
/// app.
enum ChannelsCommand {
  static let operand = "list | read ID | delete ID"
  static let settingNames = ["LOG"] + APNsWiring.settingNames
  static let options: [(flag: String, help: String)] = [
    ("--environment=", "production or sandbox. Default production"),
    ("--bundle=", "of which app. Default: the configured one"),
    ("--json", "list, read: an array of flat objects"),
  ]

  static func run(_ invocation: Invocation) throws {
    let words = invocation.arguments.words
    let options = invocation.arguments.options
    let isList = words == ["list"]
    guard isList || words.count == 2 && ["read", "delete"].contains(words[0]) else {
      throw CommandFailure(.usage, "channels wants: \(operand)")
    }
    let name = options["environment"] ?? "production"
    guard let environment = PushEnvironment(rawValue: name) else {
      throw CommandFailure(.usage, "--environment \(name): want production or sandbox")
    }
    var settings = invocation.settings
    let log = Reading.log(&settings, role: "channels")
    let apns = APNsWiring(reading: &settings)
    guard settings.problems.isEmpty else { throw Reading.failure(settings) }
    let app = ChannelApp(bundleID: options["bundle"] ?? apns.bundleID, environment: environment)
    let service = try apns.makeChannels(time: SystemTime(), log: log, metrics: Metrics())
    let prints = Prints(invocation)
    switch words[0] {
    case "list":
      var table = Table(["channel_id", "bundle_id", "environment"])
      for id in try value(service.list(in: app)) {
        table.add([.string(id), .string(app.bundleID), .string(name)])
      }
      prints.table(table, otherwise: "no channels")
    case "read":
      let storesNewest = try value(service.read(words[1], in: app))
      var table = Table(["channel_id", "bundle_id", "environment", "storage"])
      table.add([
        .string(words[1]), .string(app.bundleID), .string(name),
        .string(storesNewest ? "newest" : "none"),
      ])
      prints.table(table, otherwise: "")
    default:
      try value(service.delete(words[1], in: app))
      print("deleted: cards that listen to it get nothing more")
    }
  }

  private static func value<Value>(_ answer: ChannelAnswer<Value>) throws -> Value {
    switch answer {
    case .done(let value): return value
    case .refused(let status, let reason):
      throw CommandFailure(.unavailable, "Apple refuses: \(status) \(reason)")
    case .unanswered(let cause): throw CommandFailure(.unavailable, "no answer: \(cause)")
    }
  }
}

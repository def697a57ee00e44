import Foundation
import Pipeline
import Testing

@testable import RabbitMQBroker

/// The repository's own queues.yaml.
@Suite struct QueuesFileTests {
  static let path = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "queues.yaml").path

  let topology: Topology
  init() throws { topology = try Topology(file: Self.path) }

  @Test func `it has the queues of the specification`() {
    let names = Set(topology.queues.map(\.name).filter { !$0.hasPrefix("retry.") })
    #expect(
      names == [
        "build", "apns", "notify", "webpush", "kitchen", "dead.build", "dead.apns", "dead.notify",
        "dead.webpush", "fcm", "dead.fcm", "dead.kitchen", "unroutable",
      ])
    let variants = topology.queues.map(\.name).filter { $0.hasPrefix("retry.build.5s") }
    #expect(variants == ["retry.build.5s", "retry.build.5s-b", "retry.build.5s-c"])
    #expect(
      variants.map { topology.queue($0)?.arguments["x-message-ttl"] } == [5000, 4500, 5700])
  }

  @Test func `work queues lose nothing and rungs lead back to their stage`() throws {
    for queue in topology.queues {
      let arguments = queue.arguments
      #expect(arguments["x-expires"] == nil)
      switch queue.purpose {
      case .work(let owner):
        #expect(arguments["x-dead-letter-exchange"] == "dead")
        #expect(arguments["x-dead-letter-routing-key"] == .text(owner))
        #expect(arguments["x-delivery-limit"] == 50)
      case .rung(let owner, _):
        let stage = try #require(StageName(rawValue: owner))
        #expect(arguments["x-dead-letter-exchange"] == .text(topology.routes[stage].exchange))
        #expect(arguments["x-dead-letter-routing-key"] == .text(topology.routes[stage].routingKey))
      case .dead, .unroutable:
        #expect(arguments == ["x-queue-type": "classic"])
        continue
      }
      #expect(arguments["x-queue-type"] == "quorum")
      #expect(arguments["x-dead-letter-strategy"] == "at-least-once")
      #expect(arguments["x-overflow"] == "reject-publish")
      #expect(arguments["x-max-length"] != nil)
    }
  }

  @Test func `every binding joins an exchange and a queue that are declared`() {
    let exchanges = Set(topology.exchanges.map(\.name))
    for binding in topology.bindings {
      #expect(exchanges.contains(binding.exchange))
      #expect(topology.queue(binding.queue) != nil)
    }
    let events = topology.bindings.filter { $0.exchange == "events" }
    #expect(
      Set(events.map { "\($0.queue) \($0.routingKey)" }) == [
        "build cooksuggest.session.*", "build activity.*", "build token.registered",
        "notify cooksuggest.session.created", "notify cooksuggest.session.joined",
        "notify cooksuggest.session.decided", "notify cooksuggest.session.cancelled",
        "kitchen cooksuggest.session.generating", "kitchen cooksuggest.session.finalizing",
      ])
  }

  @Test func `routes name what the pipeline needs`() {
    let route = topology.routes[.apns]
    #expect(topology.routes.eventsExchange == "events")
    #expect((route.queue, route.exchange, route.routingKey) == ("apns", "apns", "apns"))
    #expect((route.deadExchange, route.deadRoutingKey) == ("dead", "apns"))
    #expect(route.prefetch == 500)
    #expect(route.ladder.rungs.map(\.name) == ["5s", "30s", "2m", "10m", "15m", "1h"])
    #expect(
      route.ladder.rungs[0].exchanges
        == ["retry.apns.5s", "retry.apns.5s-b", "retry.apns.5s-c"])
  }

  @Test func `nobody but topology configures, and nobody writes to the default exchange`() throws {
    for user in topology.users where user.name != "topology" {
      let permissions = user.permissions
      // A tap's own queues, which go with its connection, are all that anybody else may declare.
      #expect(permissions.configure == (user.taps ? "^(tap\\..*)$" : "^$"))
      for pattern in [permissions.write, permissions.read] {
        let regex = try Regex(pattern)
        #expect("amq.default".firstMatch(of: regex) == nil)
        #expect(pattern == "^$" || "".firstMatch(of: regex) == nil)
      }
    }
    let sender = try #require(topology.users.first { $0.name == "apns-sender" })
    #expect(sender.reads == ["apns"])
    let rungs = topology.routes[.apns].ladder.rungs.flatMap(\.exchanges)
    #expect(Set(sender.writes) == Set(["dead", "apns"] + rungs))
    let recorder = try #require(topology.users.first { $0.name == "recorder" })
    #expect(recorder.permissions.read == "^(events|tap\\..*)$")
    #expect(recorder.permissions.write == "^(tap\\..*)$")
  }
}

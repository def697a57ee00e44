import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing

@Suite(.serialized) struct TopologyApplyTests {
  @Test func `applying again changes nothing and is no mistake`() throws {
    let world = try TestTopology()
    try RabbitMQTopology.apply(world.topology, at: world.address, time: SystemTime())
  }

  @Test func `every difference is named, and nothing is changed`() throws {
    let world = try TestTopology()
    let yaml = TestTopology.yaml.replacing("delivery-limit: 50", with: "delivery-limit: 51")
      .replacing("queue-type: classic", with: "queue-type: quorum")
    let failure = try #require(throws: TopologyFailure.self) {
      try RabbitMQTopology.apply(try Topology(yaml: yaml), at: world.address, time: SystemTime())
    }
    guard case .differs(let lines) = failure else {
      Issue.record("\(failure)")
      return
    }
    #expect(lines.contains("queue apns: x-delivery-limit is 50, queues.yaml says 51"))
    #expect(lines.contains("queue dead.apns: x-queue-type is classic, queues.yaml says quorum"))
    #expect(lines.count == world.topology.queues.count)
    try RabbitMQTopology.apply(world.topology, at: world.address, time: SystemTime())
  }

  @Test func `an argument more or less is a difference too`() throws {
    let world = try TestTopology()
    let yaml = TestTopology.yaml.replacing(
      "queue: apns,", with: "queue: apns, arguments: { x-quorum-initial-group-size: 3 },")
    let failure = try #require(throws: TopologyFailure.self) {
      try RabbitMQTopology.apply(try Topology(yaml: yaml), at: world.address, time: SystemTime())
    }
    #expect(
      failure.description.hasPrefix(
        "queue apns: x-quorum-initial-group-size is not set, queues.yaml says 3"))
  }

  @Test func `a worker is told what it misses`() throws {
    let broker = try BrokerUnderTest()
    let address = try BrokerAddress(url: broker.url)
    let topology = try Topology(yaml: TestTopology.yaml)
    let failure = try #require(throws: TopologyFailure.self) {
      try RabbitMQTopology.check(topology.routes, stage: .build, at: address, time: SystemTime())
    }
    #expect(
      failure
        == .missing([
          "queue build: is missing", "exchange dead: is missing",
          "exchange retry.build.1h: is missing",
        ]))
    #expect(failure.description.hasSuffix("run lockstep topology apply"))
    #expect(throws: TopologyFailure.missing(["exchange events: is missing"])) {
      try RabbitMQTopology.check(topology.routes, stage: nil, at: address, time: SystemTime())
    }
    try RabbitMQTopology.apply(topology, at: address, time: SystemTime())
    for stage in StageName.allCases.map(Optional.some) + [nil] {
      try RabbitMQTopology.check(topology.routes, stage: stage, at: address, time: SystemTime())
    }
  }

  @Test(arguments: [
    ("wrong password", "403"), ("wrong virtual host", "530"), ("nobody there", "no connection to"),
  ])
  func `what stands between us and the broker is said`(what: String, said: String) throws {
    let broker = try BrokerUnderTest()
    let url =
      switch what {
      case "wrong password": broker.url.replacing("guest:guest@", with: "guest:wrong@")
      case "wrong virtual host": broker.url + "-other"
      default: "amqp://guest:guest@127.0.0.1:1/"
      }
    let publisher = RabbitMQPublisher(
      try BrokerAddress(url: url), name: "test", time: SystemTime(), log: .discarding)
    let lost = #expect(throws: BrokerLost.self) { try publisher.open() }
    #expect(lost?.reason.contains(said) == true, "\(lost?.reason ?? "")")
    #expect(lost?.reason.contains("wrong") != true || what != "wrong password")
  }
}

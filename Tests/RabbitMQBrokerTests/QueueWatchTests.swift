import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing

@Suite(.serialized) struct QueueWatchTests {
  private static let yaml = TestTopology.yaml.replacing(
    "max-length: 10000 }", with: "max-length: 1000000 }")

  private func watch(_ world: TestTopology, withManagement: Bool = true) throws -> QueueWatch {
    let url = try #require(
      ProcessInfo.processInfo.environment["LOCKSTEP_TEST_AMQP_MANAGEMENT_URL"])
    let management = try BrokerManagement(
      url: url, virtualHost: world.address.virtualHost)
    return QueueWatch(
      world.topology, at: world.address, management: withManagement ? management : nil,
      time: SystemTime())
  }

  private func row(_ owner: String, _ board: QueueBoard) throws -> QueueBoard.Row {
    try #require(board.rows.first { $0.owner == owner })
  }

  @Test func `depth, readers, rungs and dead letters are told, of now`() throws {
    let world = try TestTopology()
    let watch = try watch(world, withManagement: false)
    let publisher = try world.publisher()
    let dead = OutgoingMessage(
      exchange: "dead", routingKey: "build", message: world.job("d", for: .build).message)
    let waiting = OutgoingMessage(
      exchange: "retry.build.1h", routingKey: "build",
      message: world.job("w", for: .build).message)
    _ = try publisher.publish(
      (1...7).map { world.job("\($0)", for: .build) } + [dead, waiting, waiting])
    let link = try world.link(.build, prefetch: 2)
    let taken = try link.take(2)
    let build = try row("build", try watch.look())
    #expect(build.exists)
    #expect(build.depth == 5)
    #expect(build.consumers == 1)
    #expect(build.rungs.map(\.name) == ["1h"])
    #expect(build.retrying == 2)
    #expect(build.dead?.depth == 1)
    #expect(build.unacked == nil && build.rates == nil && build.oldest == nil)
    try link.acknowledge(taken.map(\.tag))
    link.close()
    try world.broker.deleteQueue("notify")
    let board = try watch.look()
    #expect(try row("build", board).consumers == 0)
    #expect(try row("notify", board).exists == false)
    #expect(board.unknown.count == 1 && board.unknown[0].contains("LOCKSTEP_AMQP_MANAGEMENT_URL"))
  }

  @Test func `unacknowledged, rates and the age of the oldest are known after a while`() throws {
    let world = try TestTopology()
    let watch = try watch(world)
    _ = try world.publisher().publish((1...7).map { world.job("\($0)", for: .build) })
    let link = try world.link(.build, prefetch: 2)
    _ = try link.take(2)
    var build = try row("build", try watch.look())
    let isKnown = becomesTrue(within: .seconds(60)) {
      // A look that fails is one that does not know yet.
      if let seen = try? row("build", try watch.look()) { build = seen }
      return build.unacked == 2 && (build.oldest?.atLeast ?? .zero) >= .seconds(5)
        && build.rates?.leaving == 0
    }
    #expect(isKnown, "\(build)")
    #expect(build.depth == 5)
  }

  @Test func `without the broker the management API's figures are shown, and neither is a failure`()
    throws
  {
    let world = try TestTopology()
    let nowhere = try BrokerAddress(url: "amqp://guest:guest@127.0.0.1:1/")
    let url = try #require(
      ProcessInfo.processInfo.environment["LOCKSTEP_TEST_AMQP_MANAGEMENT_URL"])
    let management = try BrokerManagement(url: url, virtualHost: world.address.virtualHost)
    let board = try QueueWatch(
      world.topology, at: nowhere, management: management, time: SystemTime()
    ).look()
    #expect(try row("build", board).exists)
    #expect(board.unknown.contains { $0.contains("seconds old: no connection") })
    let gone = try BrokerManagement(url: "http://guest:secret@127.0.0.1:1", virtualHost: "/")
    let other = try QueueWatch(
      world.topology, at: world.address, management: gone, time: SystemTime()
    ).look()
    #expect(try row("build", other).depth == 0)
    #expect(!other.unknown.joined().contains("secret"))
    #expect(throws: BrokerLost.self) {
      try QueueWatch(world.topology, at: nowhere, management: gone, time: SystemTime()).look()
    }
  }

  @Test func `looking at 200,000 messages takes and changes nothing`() throws {
    let world = try TestTopology(yaml: Self.yaml)
    let publisher = try world.publisher()
    let count = 200_000
    for start in stride(from: 0, to: count, by: 5000) {
      let outcomes = try publisher.publish(
        (start..<start + 5000).map { world.job("\($0)", for: .build, size: 2) })
      try #require(outcomes.allSatisfy { $0 == .confirmed })
    }
    // The first ten were handed out and given back once: that must be all that ever happened.
    let first = try world.link(.build, prefetch: 10)
    let handed = try first.take(10)
    try first.stopReceiving()
    try first.handBack(handed.map(\.tag))
    first.close()
    let time = SystemTime()
    let watch = try watch(world)
    _ = becomesTrue { (try? watch.look().rows.first?.depth) == count }
    var spent: [Duration] = []
    for _ in 0..<20 {
      let start = time.elapsed()
      _ = try watch.look()
      spent.append(time.elapsed() - start)
    }
    print("looking at \(count) waiting messages: \(spent.max() ?? .zero) at most of 20 looks")
    #expect(try watch.look().rows.first?.depth == count)
    let link = try world.link(.build, prefetch: 20)
    let taken = try link.take(20)
    #expect(taken.map(\.message.id) == (0..<20).map { "\($0)" })
    #expect(taken.map(\.redelivered) == (0..<20).map { $0 < 10 })
    #expect(
      taken.map { $0.message.integer("x-delivery-count") }
        == (0..<20).map { $0 < 10 ? 1 : nil })
    link.close()
  }
}

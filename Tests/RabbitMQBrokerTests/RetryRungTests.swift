import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing

@Suite(.serialized) struct RetryRungTests {
  @Test func `a message climbs every rung and comes back to its stage each time`() throws {
    let world = try TestTopology()
    let link = try world.link(.apns)
    defer { link.close() }
    let ladder = world.topology.routes[.apns].ladder
    _ = try link.publish([world.job("climber", for: .apns, headers: ["x-attempt": 1])])
    for attempt in 1...ladder.rungs.count {
      let delivery = try #require(try link.take(1, within: .seconds(5)).first)
      #expect(delivery.message.id == "climber")
      #expect(delivery.message.integer("x-attempt") == Int64(attempt))
      #expect((delivery.exchange, delivery.routingKey) == ("apns", "apns"))
      let rung = try #require(ladder.rung(afterAttempts: attempt))
      var copy = delivery.message
      copy.headers = ["x-attempt": .integer(Int64(attempt + 1))]
      let start = SystemTime().elapsed()
      let outcome = try link.publish([
        OutgoingMessage(exchange: rung.exchanges[0], routingKey: "any", message: copy)
      ])
      #expect(outcome == [.confirmed])
      try link.acknowledge([delivery.tag])
      link.waitReadable(until: start + .seconds(5))
      #expect(SystemTime().elapsed() - start >= rung.wait - .milliseconds(20))
    }
    let last = try #require(try link.take(1, within: .seconds(5)).first)
    #expect(last.message.integer("x-attempt") == Int64(ladder.rungs.count + 1))
  }

  @Test func `a rung leads back to its own stage only`() throws {
    let world = try TestTopology(
      yaml: TestTopology.yaml.replacing("sends: [apns], rungs: [1h]", with: "rungs: [50ms]"))
    let publisher = try world.publisher()
    defer { publisher.close() }
    let event = world.job("e", for: .build).message
    _ = try publisher.publish([
      OutgoingMessage(
        exchange: "retry.build.50ms", routingKey: "cooksuggest.session.created", message: event)
    ])
    let (build, notify) = (try world.link(.build), try world.link(.notify))
    defer {
      build.close()
      notify.close()
    }
    #expect(try build.take(1).map(\.message.id) == ["e"])
    #expect(try notify.take(1, within: .milliseconds(300)).isEmpty)
  }

  @Test func `a message given back too often ends in the dead queue of its stage`() throws {
    let world = try TestTopology(
      yaml: TestTopology.yaml.replacing("queue: apns,", with: "queue: apns, delivery-limit: 2,"))
    let link = try world.link(.apns)
    defer { link.close() }
    _ = try link.publish([world.job("poison", for: .apns)])
    for _ in 0...2 { try link.handBack(try link.take(1).map(\.tag)) }
    let dead = RabbitMQLink(
      world.address, queue: "dead.apns", prefetch: 10, name: "test", time: SystemTime(),
      log: .discarding)
    try dead.open()
    defer { dead.close() }
    #expect(try dead.take(1).map(\.message.id) == ["poison"])
  }
}

import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing

@Suite(.serialized) struct ConsumingTests {
  private func filled(_ count: Int) throws -> TestTopology {
    let world = try TestTopology()
    let publisher = try world.publisher()
    _ = try publisher.publish((0..<count).map { world.job("m\($0)", for: .apns) })
    publisher.close()
    return world
  }

  @Test func `at most the prefetch is out at once`() throws {
    let world = try filled(10)
    let link = try world.link(.apns, prefetch: 3)
    defer { link.close() }
    let first = try link.take(3)
    #expect(first.map(\.message.id) == ["m0", "m1", "m2"])
    #expect(try link.take(1, within: .milliseconds(300)).isEmpty)
    try link.acknowledge([first[1].tag])
    #expect(try link.take(1).map(\.message.id) == ["m3"])
  }

  @Test func `what was not asked for yet keeps a descriptor readable`() throws {
    let world = try filled(10)
    let link = try world.link(.apns, prefetch: 10)
    defer { link.close() }
    // One at a time with a wait between: the sockets are silent after the first look.
    let taken = try link.take(10, atOnce: 1, within: .seconds(10)) { link, some in
      if !some.isEmpty, some[0].message.id != "m9" {
        let before = SystemTime().elapsed()
        link.waitReadable(until: before + .seconds(5))
        #expect(SystemTime().elapsed() - before < .seconds(4))
      }
    }
    #expect(taken.count == 10)
    // Empty again, nothing is readable: a loop that polls does not spin.
    #expect(try link.receive(atMost: 1).isEmpty)
    #expect(link.descriptors.allSatisfy { !Poll.isReadable($0) })
  }

  @Test func `handed back messages go to another worker, unchanged`() throws {
    let world = try filled(4)
    let first = try world.link(.apns)
    let held = try first.take(4)
    try first.acknowledge([held[0].tag])
    try first.stopReceiving()
    try first.handBack(held.dropFirst().map(\.tag))
    let second = try world.link(.apns)
    defer { second.close() }
    let taken = try second.take(3)
    #expect(Set(taken.map(\.message.id)) == ["m1", "m2", "m3"])
    #expect(taken.allSatisfy { $0.redelivered })
    first.close()
  }

  @Test func `after stopping nothing new comes, and what came can be settled`() throws {
    let world = try filled(3)
    let link = try world.link(.apns, prefetch: 10)
    let held = try link.take(1)
    try link.stopReceiving()
    try link.stopReceiving()
    let publisher = try world.publisher()
    _ = try publisher.publish([world.job("late", for: .apns)])
    publisher.close()
    let rest = try link.take(9, within: .milliseconds(300))
    #expect(rest.map(\.message.id) == ["m1", "m2"])
    try link.acknowledge((held + rest).map(\.tag))
    link.close()
    let other = try world.link(.apns)
    defer { other.close() }
    #expect(try other.take(2, within: .seconds(1)).map(\.message.id) == ["late"])
  }

  @Test func `what was not acknowledged comes again after a reconnect, old tags are dropped`()
    throws
  {
    let world = try filled(3)
    let link = try world.link(.apns)
    defer { link.close() }
    #expect(link.generation == 1)
    let old = try link.take(3)
    link.close()
    try link.open()
    #expect(link.generation == 2)
    // The numbers of the old tags are those of the new ones; the broker must not hear of them.
    try link.acknowledge(old.map(\.tag))
    try link.handBack(old.map(\.tag))
    let new = try link.take(3)
    #expect(new.map(\.tag.number) == old.map(\.tag.number))
    #expect(new.allSatisfy { $0.redelivered && $0.tag.generation == 2 })
    try link.acknowledge(new.map(\.tag))
    try link.acknowledge(new.map(\.tag))
    try link.keepAlive()
    link.close()
    try link.open()
    #expect(try link.take(1, within: .milliseconds(300)).isEmpty)
  }

  @Test func `a queue deleted under its consumer is noticed`() throws {
    let world = try filled(0)
    let link = try world.link(.apns)
    try world.broker.deleteQueue("apns")
    let lost = try #require(
      try loss(within: .seconds(5)) {
        link.waitReadable(until: SystemTime().elapsed() + .milliseconds(500))
        _ = try link.receive(atMost: 1)
      })
    #expect(lost.0.reason.contains("queue apns was deleted"))
    let again = #expect(throws: BrokerLost.self) { try link.open() }
    #expect(again?.reason.contains("no queue 'apns'") == true)
  }

  @Test func `connections closed by an operator are noticed on either side`() throws {
    let world = try filled(0)
    let link = try world.link(.apns)
    let publisher = try world.publisher()
    // The list that the management API answers with lags behind by some seconds.
    let deadline = SystemTime().elapsed() + .seconds(20)
    var closed = 0
    while closed < 3, SystemTime().elapsed() < deadline {
      closed += try world.broker.closeConnections()
    }
    #expect(closed >= 3)
    let consuming = try loss(within: .seconds(5)) { _ = try link.receive(atMost: 1) }
    #expect(consuming?.0.reason.contains("320 CONNECTION_FORCED") == true)
    let publishing = try loss(within: .seconds(5)) {
      _ = try publisher.publish([world.job("a", for: .apns)])
    }
    #expect(publishing?.0.reason.contains("320 CONNECTION_FORCED") == true)
  }

  @Test func `a foreign program's message is read as far as it goes`() throws {
    let world = try TestTopology()
    try world.broker.manage(
      "POST", "/api/exchanges/\(world.broker.virtualHost)/apns/publish",
      #"""
      {"routing_key": "apns", "payload": "aGVsbG8=", "payload_encoding": "base64",
       "properties": {"headers": {"n": 7, "f": 1.5, "t": "x", "b": true, "l": [1], "o": {"p": 1}}}}
      """#)
    let link = try world.link(.apns)
    defer { link.close() }
    let message = try #require(try link.take(1).first?.message)
    #expect(message.body == Data("hello".utf8))
    #expect((message.id, message.type, message.contentType) == ("", "", ""))
    #expect(message.timestamp == nil)
    #expect(message.headers == ["n": 7, "t": "x", "b": .flag(true)])
  }

  @Test func `a message that no copy can be made of is moved to the dead queue by the broker`()
    throws
  {
    let world = try TestTopology()
    // A foreign program keeps to none of our limits.
    var wide = BrokerLimits()
    wide.headers_bytes = 120_000
    let foreign = try world.publisher(limits: wide)
    defer { foreign.close() }
    var limits = BrokerLimits()
    limits.body_bytes = 100_000
    let headers: MessageHeaders = ["x-wide": .text(String(repeating: "x", count: 64 * 1024))]
    _ = try foreign.publish([
      world.job("before", for: .apns), world.job("headers", for: .apns, headers: headers),
      world.job("body", for: .apns, size: 3_000_000), world.job("after", for: .apns, size: 100_000),
    ])
    let link = try world.link(.apns, prefetch: 2, limits: limits)
    let taken = try link.take(2)
    #expect(taken.map(\.message.id) == ["before", "after"])
    #expect(taken.map(\.message.body.count) == [20, 100_000])
    try link.acknowledge(taken.map(\.tag))
    // Nothing is left of them to come again.
    link.close()
    try link.open()
    #expect(try link.take(1, within: .milliseconds(300)).isEmpty)
    link.close()
    let dead = RabbitMQLink(
      world.address, queue: "dead.apns", prefetch: 9, name: "test", limits: wide,
      time: SystemTime(), log: .discarding)
    try dead.open()
    defer { dead.close() }
    #expect(try dead.take(2).map(\.message.id) == ["headers", "body"])
  }

  @Test func `a worker holds no more than its prefetch, so that the next one finds work`() throws {
    let world = try TestTopology()
    let publisher = try world.publisher()
    _ = try publisher.publish((0..<60).map { world.job("m\($0)", for: .apns) })
    let first = try world.link(.apns, prefetch: 20)
    #expect(try first.take(21, within: .seconds(1)).count == 20)
    let second = try world.link(.apns, prefetch: 20)
    #expect(try second.take(21, within: .seconds(1)).count == 20)
    for link in [first, second] { link.close() }
    publisher.close()
  }
}

import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing

@testable import Replay

/// The tap on the real broker.
@Suite(.serialized) struct TapTests {
  private static let yaml = """
    events: { exchange: events }
    unroutable: { queue: unroutable }
    dead: { exchange: dead, queue-type: classic }
    retry: { spread: [1] }
    work: { delivery-limit: 50, max-length: 100000 }
    stages:
      build: { queue: build, events: ["cooksuggest.session.*"], rungs: [5s] }
      apns: { queue: apns, rungs: [5s] }
      notify: { queue: notify, rungs: [5s] }
      webpush: { queue: webpush, rungs: [5s] }
      fcm: { queue: fcm, rungs: [5s] }
    users:
      recorder: { tap: [events] }
    """

  private struct World {
    let broker: BrokerUnderTest
    let topology: Topology
    let address: BrokerAddress

    init() throws {
      broker = try BrokerUnderTest()
      topology = try Topology(yaml: TapTests.yaml)
      address = try BrokerAddress(url: broker.url)
      try RabbitMQTopology.apply(topology, at: address, time: SystemTime())
    }

    func publish(_ messages: [Message]) throws {
      let publisher = RabbitMQPublisher(
        address, name: "test", time: SystemTime(), log: .discarding)
      try publisher.open()
      defer { publisher.close() }
      let outcomes = try publisher.publish(
        messages.map {
          OutgoingMessage(exchange: "events", routingKey: $0.type, message: $0)
        })
      #expect(outcomes.allSatisfy { $0 == .confirmed })
    }

    func heard(by tap: RabbitMQTap, atLeast count: Int) throws -> [Message] {
      var heard: [Message] = []
      let hasCome = becomesTrue {
        heard += (try? tap.receive(within: .milliseconds(100))) ?? []
        return heard.count >= count
      }
      #expect(hasCome, "heard \(heard.count), want \(count)")
      return heard
    }
  }

  private func messages(_ count: Int) throws -> [Message] {
    let message = try CookStory().last.message
    return (0..<count).map { number in
      var copy = message
      copy.id = "\(number)"
      return copy
    }
  }

  @Test func `it hears every event while the workers' queues get theirs`() throws {
    let world = try World()
    let tap = RabbitMQTap(world.address, exchange: "events", time: SystemTime())
    try tap.open()
    defer { tap.close() }
    try world.publish(messages(50))
    let heard = try world.heard(by: tap, atLeast: 50)
    #expect(heard.map(\.id) == (0..<50).map { "\($0)" })
    try tap.acknowledge()
    let counter = QueueCounter(world.address, time: SystemTime())
    defer { counter.close() }
    let depths = try counter.counts(of: ["build", "apns", "nowhere"]).mapValues(\.ready)
    #expect(depths == ["build": 50, "apns": 0])
  }

  @Test func `a tap that is too slow misses the oldest, and no publisher is refused`() throws {
    let world = try World()
    let tap = RabbitMQTap(
      world.address, exchange: "events", queueMax: 10, time: SystemTime())
    try tap.open()
    defer { tap.close() }
    // More than it may hold unacknowledged and in its queue; the confirms say that all were taken.
    try world.publish(messages(RabbitMQTap.prefetch + 500))
    var heard = try world.heard(by: tap, atLeast: RabbitMQTap.prefetch)
    try tap.acknowledge()
    heard += try world.heard(by: tap, atLeast: 10)
    #expect(heard.count < RabbitMQTap.prefetch + 500)
    #expect(heard.last?.id == "\(RabbitMQTap.prefetch + 499)")
  }

  @Test func `the recorder's account can tap and do nothing else`() throws {
    let world = try World()
    let user = try #require(world.topology.users.first { $0.name == "recorder" })
    let account = "recorder-\(world.broker.virtualHost)"
    try world.broker.manage("PUT", "/api/users/\(account)", #"{"password":"secret","tags":""}"#)
    defer { _ = try? world.broker.manage("DELETE", "/api/users/\(account)") }
    let rights = user.permissions
    let json = try JSONEncoder().encode([
      "configure": rights.configure, "write": rights.write, "read": rights.read,
    ])
    try world.broker.manage(
      "PUT", "/api/permissions/\(world.broker.virtualHost)/\(account)",
      String(decoding: json, as: UTF8.self))
    let address = try BrokerAddress(
      url: world.broker.url.replacing("guest:guest@", with: "\(account):secret@"))
    let tap = RabbitMQTap(address, exchange: "events", time: SystemTime())
    try tap.open()
    defer { tap.close() }
    try world.publish(messages(1))
    #expect(try world.heard(by: tap, atLeast: 1).count == 1)
    let other = RabbitMQTap(address, exchange: "dead", time: SystemTime())
    #expect(throws: BrokerLost.self) { try other.open() }
    let publisher = RabbitMQPublisher(address, name: "test", time: SystemTime(), log: .discarding)
    try publisher.open()
    let refused = #expect(throws: BrokerLost.self) {
      _ = try publisher.publish([
        OutgoingMessage(exchange: "events", routingKey: "x", message: try messages(1)[0])
      ])
    }
    #expect(refused?.reason.contains("403 ACCESS_REFUSED") == true)
    let link = RabbitMQLink(
      address, queue: "build", prefetch: 1, name: "test", time: SystemTime(), log: .discarding)
    #expect(throws: BrokerLost.self) { try link.open() }
  }
}

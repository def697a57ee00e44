import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@Suite(.serialized) struct BrokerLossTests {
  private func world(on broker: PrivateBroker) throws -> TestTopology {
    try TestTopology(
      on: BrokerUnderTest(url: broker.url, managementURL: broker.managementURL))
  }

  @Test func `a broker killed while publishing loses nothing that it confirmed`() throws {
    let broker = try PrivateBroker()
    let world = try world(on: broker)
    let link = try world.link(.apns)
    let declaredAt = SystemTime().elapsed()
    let isKilled = Atomic<Bool>(false)
    var confirmed: Set<String> = []
    var unknown: Set<String> = []
    var reason: String?
    var round = 0
    while reason == nil, round < 5000 {
      // A quorum queue killed within a second of its declaration may lose its name on RabbitMQ
      // 3.10 (research/queues.md 2b).
      if round > 20, SystemTime().elapsed() - declaredAt > .seconds(3),
        !isKilled.load(ordering: .relaxed)
      {
        isKilled.store(true, ordering: .relaxed)
        OwnedThread.start(named: "killer") { [directory = broker.directory] in
          PrivateBroker.kill(in: directory)
        }
      }
      let ids = (0..<10).map { "r\(round)-\($0)" }
      do {
        let outcomes = try link.publish(ids.map { world.job($0, for: .build) })
        for (id, outcome) in zip(ids, outcomes) where outcome == .confirmed { confirmed.insert(id) }
      } catch {
        unknown.formUnion(ids)
        reason = error.reason
      }
      round += 1
    }
    #expect(reason != nil)
    #expect(throws: BrokerLost.self) { try link.receive(atMost: 1) }
    #expect(throws: BrokerLost.self) { try link.open() }
    try broker.start()
    let reader = RabbitMQLink(
      world.address, queue: "build", prefetch: 500, name: "test", time: SystemTime(),
      log: .discarding)
    try reopen(reader)
    let taken = try reader.take(confirmed.count + unknown.count, within: .seconds(5)) {
      try $0.acknowledge($1.map(\.tag))
    }
    let ids = Set(taken.map(\.message.id))
    #expect(confirmed.subtracting(ids).isEmpty)
    #expect(ids.subtracting(confirmed).isSubset(of: unknown))
    reader.close()
  }

  /// A queue has no leader for a moment after a restart.
  private func reopen(_ link: RabbitMQLink) throws {
    let deadline = SystemTime().elapsed() + .seconds(60)
    while true {
      do throws(BrokerLost) {
        return try link.open()
      } catch {
        guard SystemTime().elapsed() < deadline else { throw error }
      }
    }
  }

  @Test func `a frozen broker is noticed by publishing, by receiving and by closing`() throws {
    let broker = try PrivateBroker()
    let world = try world(on: broker)
    var limits = BrokerLimits()
    limits.confirming = .seconds(2)
    limits.heartbeat = .seconds(2)
    let (publishing, receiving, closing) = (
      try world.link(.apns, limits: limits), try world.link(.apns, limits: limits),
      try world.link(.apns, limits: limits)
    )
    try broker.freeze()
    defer { try? broker.thaw() }
    let unconfirmed = try loss(within: .seconds(10)) {
      _ = try publishing.publish([world.job("a", for: .apns)])
    }
    #expect(unconfirmed?.0.reason == "no confirm for 1 messages within 2.0 seconds")
    let silent = try loss(within: .seconds(10)) {
      receiving.waitReadable(until: SystemTime().elapsed() + .milliseconds(200))
      _ = try receiving.receive(atMost: 1)
    }
    #expect(silent?.0.reason == "the broker was silent for two heartbeats")
    let start = SystemTime().elapsed()
    closing.close()
    #expect(SystemTime().elapsed() - start < .seconds(6))
  }

  @Test func `more than the sockets hold, sent to a frozen broker, ends too`() throws {
    let broker = try PrivateBroker()
    let world = try world(on: broker)
    var limits = BrokerLimits()
    limits.confirming = .seconds(3)
    limits.unacknowledgedBytes = .seconds(3)
    let link = try world.link(.apns, limits: limits)
    try broker.freeze()
    defer { try? broker.thaw() }
    let lost = try loss(within: .seconds(20)) {
      _ = try link.publish((0..<20).map { world.job("m\($0)", for: .apns, size: 4 << 20) })
    }
    #expect(try #require(lost).1 < .seconds(15))
  }

  @Test func `a memory alarm holds publishers back and leaves consumers alone`() throws {
    let broker = try PrivateBroker { directory in
      try Data("vm_memory_high_watermark.absolute = 1MB\n".utf8)
        .write(to: directory.appending(path: "extra.conf"))
    }
    let world = try world(on: broker)
    var limits = BrokerLimits()
    limits.confirming = .seconds(2)
    let link = try world.link(.apns, limits: limits)
    defer { link.close() }
    // The first message of a connection is still taken: only then does the broker hold it back.
    #expect(try link.publish([world.job("a", for: .apns)]) == [.confirmed])
    let taken = try link.take(1)
    let deadline = SystemTime().elapsed() + .seconds(5)
    while !link.isBlocked, SystemTime().elapsed() < deadline {
      link.waitReadable(until: deadline)
      try link.keepAlive()
    }
    #expect(link.isBlocked)
    try link.acknowledge(taken.map(\.tag))
    try link.keepAlive()
    let lost = #expect(throws: BrokerLost.self) {
      try link.publish([world.job("b", for: .apns)])
    }
    #expect(lost?.reason.contains("holds publishers back") == true)
    #expect(lost?.reason.contains("memory") == true)
  }
}

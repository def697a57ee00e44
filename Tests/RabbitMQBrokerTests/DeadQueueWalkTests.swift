import Foundation
import HTTPClient
import Pipeline
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

@testable import RabbitMQBroker

@Suite(.serialized) struct DeadQueueWalkTests {
  private let world: TestTopology
  init() throws { world = try TestTopology() }

  private func walk() -> DeadQueueWalk {
    DeadQueueWalk(world.address, time: SystemTime(), log: .discarding)
  }

  /// Puts messages into a dead queue as a worker does.
  private func bury(_ ids: [String], stage: String = "apns", headers: MessageHeaders = [:])
    throws
  {
    var headers = headers
    headers["x-last-error"] = headers["x-last-error"] ?? "503"
    let publisher = try world.publisher()
    let outcomes = try publisher.publish(
      ids.map { id in
        OutgoingMessage(
          exchange: "dead", routingKey: stage,
          message: Message(
            id: id, type: "push", contentType: "c",
            headers: headers, body: Data("x".utf8)))
      })
    #expect(outcomes.allSatisfy { $0 == .confirmed })
    publisher.close()
  }

  private func look(_ queue: String = "dead.apns", limit: Int = 1000) throws -> [DeadLetter] {
    var letters: [DeadLetter] = []
    _ = try walk().walk(queue, atMost: limit) { letter in
      letters.append(letter)
      return .keep
    }
    return letters
  }

  /// Replays everything in the queue.
  private func replayAll(_ queue: String = "dead.apns") throws -> DeadQueueWalk.Report {
    let walk = walk()
    defer { walk.close() }
    return try walk.walk(queue, atMost: 1000) { letter in
      .replay(letter.replay(to: try #require(letter.origin(in: world.topology))))
    }
  }

  /// What lies ready in a queue.
  private func ready(_ queue: String) throws -> Int {
    var report = DeadQueueWalk.Report()
    report = try walk().walk(queue, atMost: 1) { _ in .keep }
    return report.depth
  }

  @Test func `fifty looks lose nothing and keep the order`() throws {
    let ids = (0..<30).map { "m\($0)" }
    try bury(ids)
    for _ in 0..<50 { #expect(try look().map(\.message.id) == ids) }
    #expect(try look()[0].message.headers == ["x-last-error": "503"])
  }

  @Test func `on a quorum dead queue a look counts once, against a limit of a million`() throws {
    let yaml = TestTopology.yaml.replacing("queue-type: classic", with: "queue-type: quorum")
    let broker = try BrokerUnderTest()
    let address = try BrokerAddress(url: broker.url)
    let topology = try Topology(yaml: yaml)
    try RabbitMQTopology.apply(topology, at: address, time: SystemTime())
    let publisher = RabbitMQPublisher(address, name: "t", time: SystemTime(), log: .discarding)
    try publisher.open()
    let message = Message(id: "m", type: "t", contentType: "c", body: Data())
    let sent = OutgoingMessage(exchange: "dead", routingKey: "apns", message: message)
    #expect(try publisher.publish([sent]) == [.confirmed])
    var counts: [Int64] = []
    for _ in 0..<25 {
      _ = try DeadQueueWalk(address, time: SystemTime(), log: .discarding)
        .walk("dead.apns", atMost: 10) { letter in
          counts.append(letter.message.integer("x-delivery-count") ?? 0)
          return .keep
        }
    }
    #expect(
      counts == (0..<25).map { Int64($0) }, "more than the 20 that RabbitMQ 4 gives by default")
    #expect(topology.queue("dead.apns")?.arguments["x-delivery-limit"] == 1_000_000)
  }

  @Test func `a limit looks at the oldest and says how many there are`() throws {
    try bury((0..<20).map { "m\($0)" })
    let report = try walk().walk("dead.apns", atMost: 5) { _ in .keep }
    #expect((report.depth, report.seen) == (20, 5))
    #expect(try look(limit: 5).map(\.message.id) == ["m0", "m1", "m2", "m3", "m4"])
    #expect(try ready("dead.apns") == 20)
  }

  @Test func `an error while looking hands everything back`() throws {
    struct Broken: Error {}
    try bury(["a", "b"])
    #expect(throws: Broken.self) {
      _ = try walk().walk("dead.apns", atMost: 10) { _ in throw Broken() }
    }
    #expect(try look().map(\.message.id) == ["a", "b"])
  }

  @Test func `cut off in the middle nothing is lost, and nothing is gone but what was confirmed`()
    throws
  {
    try bury((0..<500).map { "m\($0)" })
    let walk = walk()
    var seen = 0
    #expect(throws: BrokerLost.self) {
      _ = try walk.walk("dead.apns", atMost: 1000) { letter in
        seen += 1
        if seen == 300 {
          #expect(becomesTrue { ((try? world.broker.closeConnections()) ?? 0) > 0 })
        }
        return .replay(letter.replay(to: ("apns", "apns")))
      }
    }
    let left = Set(try look().map(\.message.id))
    let link = try world.link(.apns, prefetch: 1000)
    let back = try link.take(500, within: .seconds(2)).map(\.message.id)
    link.close()
    #expect(left.union(back).count == 500)
    #expect(left.count <= 500 - 200, "the first window was confirmed and acknowledged")
  }

  @Test func `a replay reaches the stage that failed and no other, as a first attempt`() throws {
    try bury(
      ["e"], stage: "notify",
      headers: [
        "x-attempt": 4, "x-origin-exchange": "events", "x-origin-key": "cooksuggest.session.picked",
        "x-origin-queue": "notify",
      ])
    #expect(try replayAll("dead.notify").replayed == 1)
    let link = try world.link(.notify)
    let again = try #require(try link.take(1).first)
    #expect(again.attempt == 1)
    #expect(again.message.integer("x-replays") == 1)
    #expect(again.message.text("x-origin-exchange") == "events")
    link.close()
    #expect(try ready("build") == 0, "the other reader of the event sees no second copy")
    #expect(try ready("dead.notify") == 0)
  }

  @Test func `it can be replayed any number of times`() throws {
    try bury(["m"])
    let link = try world.link(.apns)
    for number in 1...5 {
      #expect(try replayAll().replayed == 1)
      let delivery = try #require(try link.take(1).first)
      #expect(delivery.message.integer("x-replays") == Int64(number))
      let dead = world.topology.routes[.apns].deadCopy(
        of: delivery, because: "again", now: UnixTime(seconds: 1))
      #expect(try link.publish([dead]) == [.confirmed])
      try link.acknowledge([delivery.tag])
    }
    link.close()
    #expect(try look().map(\.replays) == [5])
  }

  @Test func `what the broker dead-lettered is known and goes back without its headers`() throws {
    let yaml = TestTopology.yaml.replacing("delivery-limit: 50", with: "delivery-limit: 1")
    let small = try TestTopology(yaml: yaml)
    let publisher = try small.publisher()
    #expect(try publisher.publish([small.job("m", for: .apns)]) == [.confirmed])
    let link = try small.link(.apns)
    for _ in 0..<2 { try link.handBack(try link.take(1).map(\.tag)) }
    let walk = DeadQueueWalk(small.address, time: SystemTime(), log: .discarding)
    var letters: [DeadLetter] = []
    #expect(
      becomesTrue {
        letters = []
        let report = try? walk.walk("dead.apns", atMost: 10) { letter in
          letters.append(letter)
          return .keep
        }
        return report?.seen == 1
      })
    let letter = try #require(letters.first)
    #expect(letter.reason == "returned to queue apns too often (delivery limit)")
    #expect(letter.death?.at != nil)
    let report = try walk.walk("dead.apns", atMost: 10) { letter in
      .replay(letter.replay(to: try #require(letter.origin(in: small.topology))))
    }
    #expect(report.replayed == 1)
    let again = try #require(try link.take(1).first)
    #expect(again.message.headers == ["x-replays": 1])
    link.close()
    walk.close()
  }

  @Test func `what cannot be published stays`() throws {
    try bury(["a", "b", "c"], stage: "notify")
    try world.broker.manage(
      "DELETE", "/api/bindings/\(world.broker.virtualHost)/e/notify/q/notify/notify")
    let report = try replayAll("dead.notify")
    #expect((report.replayed, report.refused) == (0, 3))
    #expect(report.refusal == "notify: 312 NO_ROUTE")
    #expect(try look("dead.notify").map(\.message.id) == ["a", "b", "c"])
  }

  @Test func `what is dropped is gone, the rest stays`() throws {
    try bury((0..<10).map { "m\($0)" })
    let report = try walk().walk("dead.apns", atMost: 1000) { letter in
      letter.message.id.hasSuffix("3") ? .drop : .keep
    }
    #expect(report.dropped == 1)
    #expect(try look().count == 9)
  }

  @Test func `an event that no queue takes is found with its exchange and key`() throws {
    let publisher = try world.publisher()
    let message = Message(id: "u", type: "new.type", contentType: "c", body: Data())
    let sent = OutgoingMessage(exchange: "events", routingKey: "new.type", message: message)
    #expect(try publisher.publish([sent]) == [.confirmed])
    let letter = try #require(try look("unroutable").first)
    #expect(letter.reason == "no queue takes new.type of events")
    #expect(try #require(letter.origin(in: world.topology)) == ("events", "new.type"))
  }

  @Test func `an account of role operator may look, replay and drop, and nothing else`() throws {
    let full = try TestTopology(
      yaml: try String(contentsOfFile: QueuesFileTests.path, encoding: .utf8))
    let management = try BrokerManagement(
      url: try #require(ProcessInfo.processInfo.environment["LOCKSTEP_TEST_AMQP_MANAGEMENT_URL"]),
      virtualHost: full.broker.virtualHost)
    let operatorUser = try #require(full.topology.users.first { $0.name == "operator" })
    let account = "operator-\(full.broker.virtualHost)"
    try management.makeUser(account, password: "secret", tags: operatorUser.tags)
    defer { _ = try? full.broker.manage("DELETE", "/api/users/\(account)") }
    try management.setPermissions(of: account, to: operatorUser.permissions)
    let address = try BrokerAddress(
      url: full.broker.url.replacing("guest:guest@", with: "\(account):secret@"))
    let publisher = try full.publisher()
    let stages = ["build", "apns", "notify", "webpush", "fcm", "kitchen"]
    let sent = stages.map { stage in
      OutgoingMessage(
        exchange: "dead", routingKey: stage,
        message: Message(id: stage, type: "t", contentType: "c", body: Data()))
    }
    #expect(try publisher.publish(sent).allSatisfy { $0 == .confirmed })
    let walk = DeadQueueWalk(address, time: SystemTime(), log: .discarding)
    for stage in stages {
      let report = try walk.walk("dead.\(stage)", atMost: 10) { letter in
        .replay(letter.replay(to: try #require(letter.origin(in: full.topology))))
      }
      #expect(report.replayed == 1)
    }
    #expect(throws: BrokerLost.self) { _ = try walk.walk("apns", atMost: 1) { _ in .keep } }
    #expect(throws: BrokerLost.self) {
      try bury(["x"])
      _ = try walk.walk("dead.apns", atMost: 1) { letter in
        .replay(OutgoingMessage(exchange: "", routingKey: "apns", message: letter.message))
      }
      _ = try walk.walk("apns", atMost: 1) { _ in .keep }
    }
    walk.close()
  }
}

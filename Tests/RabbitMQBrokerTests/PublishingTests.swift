import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

@Suite(.serialized) struct PublishingTests {
  @Test func `5000 messages are confirmed, and all are consumed`() throws {
    let world = try TestTopology()
    let link = try world.link(.apns, prefetch: 500)
    defer { link.close() }
    let ids = (0..<5000).map { "m\($0)" }
    let outcomes = try link.publish(ids.map { world.job($0, for: .apns, size: 1024) })
    #expect(outcomes.count == 5000)
    #expect(outcomes.allSatisfy { $0 == .confirmed })
    let taken = try link.take(5000) { try $0.acknowledge($1.map(\.tag)) }
    #expect(taken.map(\.message.id) == ids)
    #expect(taken.allSatisfy { $0.message.body.count == 1024 && !$0.redelivered })
  }

  @Test func `a message that no queue takes is returned, its neighbours are confirmed`() throws {
    let world = try TestTopology()
    let publisher = try world.publisher()
    defer { publisher.close() }
    let job = world.job("lost", for: .apns)
    let unbound = OutgoingMessage(
      exchange: job.exchange, routingKey: "nobody", message: job.message)
    let outcomes = try publisher.publish([
      world.job("a", for: .apns), unbound, world.job("b", for: .apns),
    ])
    #expect(outcomes == [.confirmed, .returned(because: "312 NO_ROUTE"), .confirmed])
  }

  @Test func `an event that no queue is bound to waits in unroutable`() throws {
    let world = try TestTopology()
    let publisher = try world.publisher()
    defer { publisher.close() }
    let event = OutgoingMessage(
      exchange: "events", routingKey: "activity.started",
      message: world.job("e", for: .apns).message)
    #expect(try publisher.publish([event]) == [.confirmed])
    let link = RabbitMQLink(
      world.address, queue: "unroutable", prefetch: 10, name: "test", time: SystemTime(),
      log: .discarding)
    try link.open()
    defer { link.close() }
    #expect(try link.take(1).map(\.routingKey) == ["activity.started"])
  }

  @Test func `a full queue refuses`() throws {
    let world = try TestTopology()
    let publisher = try world.publisher()
    defer { publisher.close() }
    // Quorum queues count a little late: up to the limit is taken, soon above it nothing is.
    let outcomes = try (0..<20).map {
      try publisher.publish([world.job("n\($0)", for: .notify)])[0]
    }
    #expect(outcomes.prefix(2) == [.confirmed, .confirmed])
    guard case .refused = outcomes[19] else {
      Issue.record("the queue takes more than its length: \(outcomes)")
      return
    }
  }

  @Test func `what the protocol cannot carry is refused alone`() throws {
    var limits = BrokerLimits()
    limits.body_bytes = 100
    limits.headers_bytes = 100
    let world = try TestTopology()
    let publisher = try world.publisher(limits: limits)
    defer { publisher.close() }
    let outcomes = try publisher.publish([
      world.job("a", for: .apns, size: 100), world.job("b", for: .apns, size: 101),
      world.job(String(repeating: "i", count: 256), for: .apns),
      world.job("h", for: .apns, headers: ["h": .text(String(repeating: "x", count: 94))]),
      world.job("z", for: .apns),
    ])
    #expect(
      outcomes == [
        .confirmed, .refused(because: "body has 101 bytes, at most 100 are wanted"),
        .refused(because: "message_id has 256 bytes, at most 255 are wanted"),
        .refused(because: "headers have 101 bytes, at most 100 are wanted"), .confirmed,
      ])
  }

  @Test func `properties and headers of each type survive the way`() throws {
    let world = try TestTopology()
    let link = try world.link(.apns)
    defer { link.close() }
    let message = Message(
      id: "0197-ä", type: "push", contentType: "application/json",
      headers: [
        "text": "Grüße 🍲", "empty": "", "large": .integer(.max), "small": .integer(.min),
        "zero": 0, "yes": .flag(true), "no": .flag(false),
      ], body: Data((0...255).map { UInt8($0) }), timestamp: .init(seconds: 1_781_809_923))
    let empty = Message(id: "e", type: "", contentType: "", body: Data())
    let route = world.topology.routes[.apns]
    for message in [message, empty] {
      _ = try link.publish([
        OutgoingMessage(exchange: route.exchange, routingKey: route.routingKey, message: message)
      ])
    }
    let taken = try link.take(2)
    #expect(taken.map(\.message) == [message, empty])
    #expect(taken.map(\.exchange) == ["apns", "apns"])
    #expect(taken.map(\.routingKey) == ["apns", "apns"])
  }

  @Test(arguments: [0, 1, 131_063, 131_064, 131_065, 1_000_000])
  func `bodies around the size of a frame arrive whole`(size: Int) throws {
    let world = try TestTopology()
    let link = try world.link(.apns)
    defer { link.close() }
    #expect(try link.publish([world.job("a", for: .apns, size: size)]) == [.confirmed])
    #expect(try link.take(1).map(\.message.body.count) == [size])
  }

  @Test func `publishing to an exchange that is not there loses the connection with its name`()
    throws
  {
    let world = try TestTopology()
    let publisher = try world.publisher()
    let message = world.job("a", for: .apns).message
    let lost = #expect(throws: BrokerLost.self) {
      try publisher.publish([
        OutgoingMessage(exchange: "nowhere", routingKey: "", message: message)
      ])
    }
    #expect(lost?.reason.contains("no exchange 'nowhere'") == true)
    try publisher.open()
    #expect(try publisher.publish([world.job("a", for: .apns)]) == [.confirmed])
    publisher.close()
  }

  @Test func `nothing is published before open and after close`() throws {
    let world = try TestTopology()
    let publisher = try world.publisher()
    publisher.close()
    #expect(throws: BrokerLost("not connected")) {
      try publisher.publish([world.job("a", for: .apns)])
    }
  }

  // MARK: Without waiting

  @Test func `what is sent without waiting is answered by its number, each once`() throws {
    let world = try TestTopology()
    let link = try world.link(.apns)
    defer { link.close() }
    let job = world.job("a", for: .apns)
    let unbound = OutgoingMessage(
      exchange: job.exchange, routingKey: "nobody", message: job.message)
    let first = try link.send([job, unbound])
    let long = world.job(String(repeating: "i", count: 256), for: .apns)
    let second = try link.send([long, world.job("b", for: .apns)])
    #expect((first, second) == (1..<3, 3..<5))
    var answers: [UInt64: [PublishOutcome]] = [:]
    #expect(
      becomesTrue {
        _ = try? link.keepAlive()
        for answer in link.takeAnswers() {
          answers[answer.number, default: []].append(answer.outcome)
        }
        return answers.count == 4
      })
    #expect(
      answers == [
        1: [.confirmed], 2: [.returned(because: "312 NO_ROUTE")],
        3: [.refused(because: "message_id has 256 bytes, at most 255 are wanted")],
        4: [.confirmed],
      ])
    link.close()
    try link.open()
    #expect(try link.send([job]) == 1..<2, "another connection counts anew")
  }

  @Test func `no more are sent than may wait for their answer`() throws {
    var limits = BrokerLimits()
    limits.window = 10
    let world = try TestTopology()
    let link = try world.link(.apns, limits: limits)
    defer { link.close() }
    let jobs = (0..<25).map { world.job("m\($0)", for: .apns) }
    // Not yet read, an answer makes no room.
    #expect(try link.send(Array(jobs.prefix(8))).count == 8)
    var sent = 8
    let deadline = SystemTime().elapsed() + .seconds(10)
    var answered = 0
    while answered < jobs.count, SystemTime().elapsed() < deadline {
      sent += try link.send(Array(jobs[sent...])).count
      answered += link.takeAnswers().count
      #expect(sent - answered <= 10)
      link.waitReadable(until: SystemTime().elapsed() + .milliseconds(100))
      try link.keepAlive()
    }
    #expect((sent, answered) == (25, 25))
    #expect(try link.take(25).count == 25)
  }
}

import Foundation
import Pipeline
import RabbitMQBroker
import Testing
import Vocabulary

@Suite struct DeadLetterTests {
  private let topology: Topology
  init() throws { topology = try Topology(file: QueuesFileTests.path) }

  private func letter(
    in queue: String = "dead.apns", _ headers: MessageHeaders = [:],
    exchange: String = "dead", key: String = "apns", death: BrokerDeath? = nil
  ) -> DeadLetter {
    DeadLetter(
      queue: queue,
      message: Message(
        id: "m", type: "t", contentType: "c", headers: headers, body: Data("{}".utf8),
        timestamp: UnixTime(seconds: 1000)),
      exchange: exchange, routingKey: key, death: death)
  }

  @Test(arguments: [
    ("503 ServiceUnavailable, after 5 attempts", "503 ServiceUnavailable, after N attempts"),
    ("399 or 600", "N or N"),
    ("type \"push.x9\" is not a push job", "type \"push.…\" is not a push job"),
    (
      "message_id \"0197b1c2-aaaa-7bbb-8ccc-0123456789ab\" is no UUID",
      "message_id \"…\" is no UUID"
    ),
    ("session cs_4f2 of u_dennis has 12 proposals", "session … of u_dennis has N proposals"),
    ("line\nbreak", "line break"), ("a\u{1B}[2J\u{9B}", "a [… "), ("", ""),
  ])
  func `what differs from message to message is folded`(reason: String, folded: String) {
    #expect(FoldedReason.of(reason) == folded)
    #expect(FoldedReason.of(folded) == folded, "as list shows it, --reason takes it")
  }

  @Test func `a long reason is cut`() {
    #expect(FoldedReason.of(String(repeating: "a", count: 201)).count == 200)
  }

  @Test(arguments: [
    ("delivery_limit", "returned to queue apns too often (delivery limit)"),
    ("rejected", "rejected from queue apns"), ("maxlen", "queue apns was full"),
    ("novelty", "novelty in queue apns"),
  ])
  func `the broker's reason stands above an earlier one of ours`(reason: String, text: String) {
    let letter = letter(
      ["x-last-error": "503"], death: BrokerDeath(queue: "apns", reason: reason))
    #expect(letter.reason == text)
  }

  @Test func `our own reason, and none at all`() {
    #expect(letter(["x-last-error": "503"]).reason == "503")
    #expect(
      letter(in: "unroutable", exchange: "events", key: "nobody").reason
        == "no queue takes nobody of events")
  }

  @Test(
    arguments: [
      ("dead.apns", ["x-origin-queue": "apns"], nil, "apns"),
      ("dead.build", [:], nil, "build"),
      ("dead.apns", ["x-origin-queue": "gone"], nil, "apns"),
      ("dead.notify", [:], "retry.notify.5s-b", "notify"),
      ("dead.kitchen", [:], "kitchen", "kitchen"),
    ] as [(String, MessageHeaders, String?, String)])
  func `it goes back to the queue it failed in and to no other`(
    queue: String, headers: MessageHeaders, died: String?, owner: String
  ) throws {
    let death = died.map { BrokerDeath(queue: $0, reason: "delivery_limit") }
    let origin = try #require(letter(in: queue, headers, death: death).origin(in: topology))
    #expect(origin == (owner, owner))
    let leadsTo = topology.bindings.filter {
      $0.exchange == origin.exchange && $0.routingKey == origin.routingKey
    }
    #expect(leadsTo.map(\.queue) == [owner])
  }

  @Test func `what no queue took goes to the exchange that had none for it`() throws {
    let event = letter(in: "unroutable", exchange: "events", key: "new.type")
    let origin = try #require(event.origin(in: topology))
    #expect(origin == ("events", "new.type"))
    #expect(letter(in: "unroutable", exchange: "foreign").origin(in: topology) == nil)
  }

  @Test func `a replay is a first attempt with one more replay counted`() {
    let dead = letter(
      [
        "x-attempt": 5, "x-last-error": "503", "x-last-failed-at": 9, "x-first-failed-at": 7,
        "x-origin-queue": "apns", "x-token": "ab", "x-rev": 3, "x-replays": 2,
        "x-first-death-queue": "apns", "x-last-death-reason": "rejected", "x-delivery-count": 3,
      ])
    let copy = dead.replay(to: ("apns", "apns"))
    #expect((copy.exchange, copy.routingKey, copy.message.id) == ("apns", "apns", "m"))
    #expect(
      copy.message.headers == [
        "x-first-failed-at": 7, "x-origin-queue": "apns", "x-token": "ab", "x-rev": 3,
        "x-replays": 3,
      ])
    #expect(copy.message.body == dead.message.body)
  }

  @Test func `times are the best that is known`() {
    let ours = letter(["x-first-failed-at": 7, "x-last-failed-at": 9])
    #expect(ours.firstFailedAt == UnixTime(milliseconds: 7))
    #expect(ours.lastFailedAt == UnixTime(milliseconds: 9))
    let death = BrokerDeath(queue: "apns", reason: "rejected", at: UnixTime(seconds: 5))
    #expect(letter(death: death).firstFailedAt == UnixTime(seconds: 5))
    #expect(letter().lastFailedAt == UnixTime(seconds: 1000))
  }

  @Test func `groups count by stage and reason, and their number is limited`() {
    var groups = DeadLetterGroups()
    for (error, at) in [("503, after 1", 5), ("503, after 2", 3), ("no type", 4)] {
      groups.add(
        letter(["x-last-error": .text(error), "x-first-failed-at": .integer(Int64(at))]),
        stage: "apns")
    }
    #expect(groups.sorted.map(\.reason) == ["503, after N", "no type"])
    #expect(groups.sorted.map(\.count) == [2, 1])
    #expect(groups.sorted[0].firstFailedAt == UnixTime(milliseconds: 3))
    #expect(groups.sorted[0].lastFailedAt == UnixTime(milliseconds: 5))
    for number in 0..<2000 {
      let letters = String(number).map { String(UnicodeScalar(UInt8($0.wholeNumberValue! + 97))) }
      groups.add(letter(["x-last-error": .text(letters.joined())]), stage: "apns")
    }
    #expect(groups.sorted.count == 1001)
    #expect(groups.sorted.map(\.count).reduce(0, +) == 2003)
  }
}

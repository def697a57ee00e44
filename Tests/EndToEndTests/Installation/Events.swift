import Foundation
import HTTPClient
import TestSupport
import Testing
import Vocabulary

/// The events exchange, as a program of somebody else sees it.
extension Installation {
  static let eventsExchange = "events"
  private static let recorder = "recorder"

  private static let publisher = Programs.repository
    .appending(path: "Tests/EndToEndTests/foreign_publisher.py")

  struct RecordedEvent {
    let event: JSONValue
    let headers: JSONValue
  }

  /// From now on every event is kept.
  func record() throws {
    let host = broker.virtualHost
    try broker.manage("PUT", "/api/queues/\(host)/\(Self.recorder)", #"{"durable":true}"#)
    try broker.manage(
      "POST", "/api/bindings/\(host)/e/\(Self.eventsExchange)/q/\(Self.recorder)",
      ##"{"routing_key":"#"}"##)
  }

  /// What was recorded since the last call, `count` at least, in the order it was published.
  func recorded(atLeast count: Int) throws -> [RecordedEvent] {
    var events: [RecordedEvent] = []
    try wait(for: "\(count) recorded events") {
      events += try messages(in: Self.recorder, keeping: false).compactMap { message in
        guard let text = message["payload"]?.text else { return nil }
        return RecordedEvent(
          event: try JSONValue(parsing: Data(text.utf8)),
          headers: message["properties"]?["headers"] ?? [:])
      }
      return events.count >= count
    }
    return events
  }

  /// As the management API shows them: `payload`, `properties`, `routing_key`.
  func messages(in queue: String, keeping: Bool = true) throws -> [JSONValue] {
    let mode = keeping ? "ack_requeue_true" : "ack_requeue_false"
    let answer = try broker.manage(
      "POST", "/api/queues/\(broker.virtualHost)/\(queue)/get",
      #"{"count":1000,"ackmode":"\#(mode)","encoding":"auto"}"#)
    guard case .array(let messages) = try JSONValue(parsing: answer.body) else { return [] }
    return messages
  }

  func purge(_ queue: String) throws {
    try broker.manage("DELETE", "/api/queues/\(broker.virtualHost)/\(queue)/contents")
  }

  /// Publishes with Python's pika, in this order.
  func publishAsForeigner(_ events: [RecordedEvent]) throws {
    let lines = events.map { entry -> String in
      let line: JSONValue = ["event": entry.event, "headers": entry.headers]
      return String(decoding: line.encoded, as: UTF8.self)
    }
    let outcome = try Programs.run(
      Programs.python,
      [Self.publisher.path(percentEncoded: false), broker.url, Self.eventsExchange],
      input: lines.joined(separator: "\n") + "\n")
    try #require(outcome.code == 0, "pika: \(outcome.errors)")
    try #require(outcome.output == "\(events.count)\n")
  }
}

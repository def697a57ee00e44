import Foundation
import Pipeline
import RabbitMQBroker
import Vocabulary

/// One dead letter as text and as JSON.
struct ShownDeadLetter {
  private let letter: DeadLetter
  private let facts: [(name: String, value: JSONValue)]

  init(_ letter: DeadLetter, stage: String, topology: Topology) {
    self.letter = letter
    let origin = letter.origin(in: topology)
    let message = letter.message
    facts = [
      ("id", .string(message.id)), ("stage", .string(stage)), ("queue", .string(letter.queue)),
      ("reason", .string(TokenFolding.fold(letter.reason))),
      ("type", .string(message.type)), ("content_type", .string(message.contentType)),
      ("attempts", letter.attempts.map { .integer(Int64($0)) } ?? .null),
      ("replays", .integer(Int64(letter.replays))),
      ("first_failed_at", DeadLetterDesk.time(letter.firstFailedAt)),
      ("last_failed_at", DeadLetterDesk.time(letter.lastFailedAt)),
      ("made_at", DeadLetterDesk.time(message.timestamp)),
      ("goes_back_to", origin.map { .string("\($0.exchange), key \($0.routingKey)") } ?? .null),
    ]
  }

  var text: String {
    var lines = facts.map { fact in
      let label = fact.name.replacing("_", with: " ")
      return label.padding(toLength: 18, withPad: " ", startingAt: 0) + Self.text(fact.value)
    }
    lines += letter.message.shownHeaders.map { header in
      "header "
        + header.name.padding(toLength: max(22, header.name.count), withPad: " ", startingAt: 0)
        + " " + header.value
    }
    return (lines.map(\.visible) + [body.visibleLines]).joined(separator: "\n")
  }

  private static func text(_ value: JSONValue) -> String {
    switch value {
    case .string(let text): text.isEmpty ? "-" : text
    case .integer(let number): "\(number)"
    default: "-"
    }
  }

  private var body: String {
    guard let value = try? JSON.decode(JSONValue.self, from: letter.message.body) else {
      // Not JSON: as it is.
      return letter.message.shownBody
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    guard let pretty = try? encoder.encode(value) else { return letter.message.shownBody }
    return TokenFolding.fold(String(decoding: pretty, as: UTF8.self))
  }

  /// Without whole push tokens.
  var json: JSONValue {
    object(
      headers: letter.message.shownHeaders.map { ($0.name, .string($0.value)) },
      body: .string(letter.message.shownBody))
  }

  /// Everything as it is, a body that is not text as `body_base64`.
  var rawJSON: JSONValue {
    let headers = letter.message.headers.map { name, value -> (String, JSONValue) in
      switch value {
      case .text(let text): (name, .string(text))
      case .integer(let integer): (name, .integer(integer))
      case .flag(let flag): (name, .bool(flag))
      }
    }
    let body = String(data: letter.message.body, encoding: .utf8)
    return object(headers: headers, body: body.map { .string($0) })
  }

  private func object(headers: [(String, JSONValue)], body: JSONValue?) -> JSONValue {
    var members = Dictionary(uniqueKeysWithValues: facts.map { ($0.name, $0.value) })
    members["exchange"] = .string(letter.exchange)
    members["routing_key"] = .string(letter.routingKey)
    members["headers"] = .object(Dictionary(headers) { first, _ in first })
    if let body {
      members["body"] = body
    } else {
      members["body_base64"] = .string(letter.message.body.base64EncodedString())
    }
    return .object(members)
  }
}

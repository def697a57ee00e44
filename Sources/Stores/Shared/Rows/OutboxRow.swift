import Foundation
import Pipeline
import Vocabulary

extension OutboxEvent: SQLColumns {
  /// All but the sequence, which the database gives, and the tries, of which there are none yet.
  func write(to columns: inout some ColumnWriter) {
    columns.append(
      message.id, message.type, message.contentType, message.headers.stored, message.body,
      message.timestamp, routingKey, storedAt, orderKey)
  }

  init(row: inout some SQLRow) throws {
    let sequence: Int64 = try row.next()
    let message = Message(
      id: try row.next(), type: try row.next(), contentType: try row.next(),
      headers: try MessageHeaders(stored: try row.next()), body: try row.next(),
      timestamp: try row.next())
    self.init(
      sequence: sequence, message: message, routingKey: try row.next(), storedAt: try row.next(),
      orderKey: try row.next(), tries: try row.next())
  }
}

/// One JSON object of texts, integers and flags.
extension MessageHeaders {
  fileprivate var stored: JSONText { JSONText(encoding: dictionary.mapValues(\.json)) }

  /// Reads back what ``stored`` wrote.
  ///
  /// - Throws: ``StoreError`` when that is something else.
  fileprivate init(stored text: JSONText) throws {
    let values: [String: JSONValue] = try text.decoded("an event's headers")
    self.init(try values.mapValues(HeaderValue.init))
  }
}

extension HeaderValue {
  fileprivate var json: JSONValue {
    switch self {
    case .text(let text): .string(text)
    case .integer(let number): .integer(number)
    case .flag(let flag): .bool(flag)
    }
  }

  fileprivate init(_ json: JSONValue) throws {
    switch json {
    case .string(let text): self = .text(text)
    case .integer(let number): self = .integer(number)
    case .bool(let flag): self = .flag(flag)
    default:
      throw StoreError(
        "the database is damaged: a stored header is no text, integer or flag but \(json)")
    }
  }
}

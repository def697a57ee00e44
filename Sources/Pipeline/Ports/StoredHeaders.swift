import Foundation
import Vocabulary

// Headers as every store keeps them beside an event: one JSON object of texts, integers and flags.

extension MessageHeaders {
  package var json: Data { JSON.encoded(dictionary.mapValues(\.json)) }

  /// Reads back what ``json`` wrote.
  ///
  /// - Throws: ``StoreError`` when that is something else.
  package init(json: Data) throws(StoreError) {
    do {
      self.init(try JSON.decode([String: JSONValue].self, from: json).mapValues(HeaderValue.init))
    } catch {
      throw StoreError("the database is damaged: stored headers do not decode: \(error)")
    }
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
    default: throw StoreError("a header must be text, an integer or a flag, it is \(json)")
    }
  }
}

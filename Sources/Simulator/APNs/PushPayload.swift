import Foundation
import Vocabulary

/// The body of a push, as far as its shape can be read.
package struct PushPayload: Hashable, Sendable {
  package enum Event: String, Codable, Hashable, Sendable { case start, update, end }

  package let aps: [String: JSONValue]
  /// The members beside `aps`: what the app itself reads.
  package let custom: [String: JSONValue]

  /// - Throws: the finding that says why a phone could make nothing of it.
  init(reading body: [UInt8]) throws(Finding.Failure) {
    let root: JSONValue
    do {
      root = try JSONValue(parsing: Data(body))
    } catch {
      throw Finding.Failure(.json, "the body is not JSON: \(error)")
    }
    guard case .object(var members) = root else {
      throw Finding.Failure(.json, "the body is \(root.typeName), want an object")
    }
    guard case .object(let aps) = members.removeValue(forKey: "aps") else {
      throw Finding.Failure(.aps, "there is no object \"aps\"")
    }
    self.aps = aps
    custom = members
  }

  package var event: Event? { text("event").flatMap(Event.init(rawValue:)) }
  package var timestamp: Int64? { integer("timestamp") }
  package var staleAt: UnixTime? { integer("stale-date").flatMap(Self.moment) }
  package var dismissAt: UnixTime? { integer("dismissal-date").flatMap(Self.moment) }
  package var alertTitle: String? { aps["alert"].flatMap { Self.words($0["title"]) } }
  package var alertBody: String? { aps["alert"].flatMap { Self.words($0["body"]) } }

  /// The bytes that a phone's decoder gets for one member of `aps`.
  func json(_ name: String) -> Data? { aps[name]?.encoded }

  func text(_ name: String) -> String? {
    guard case .string(let text) = aps[name] else { return nil }
    return text
  }

  private func integer(_ name: String) -> Int64? {
    guard case .integer(let number) = aps[name] else { return nil }
    return number
  }

  private static func moment(_ seconds: Int64) -> UnixTime? {
    abs(seconds) <= PayloadContract.secondsMax ? UnixTime(seconds: seconds) : nil
  }

  /// Text, or the key of a text that the app holds.
  private static func words(_ value: JSONValue?) -> String? {
    switch value {
    case .string(let text): text
    case .object(let members):
      if case .string(let key) = members["loc-key"] { key } else { nil }
    default: nil
    }
  }
}

extension Finding {
  /// A finding that ends the reading.
  package struct Failure: Error, Hashable, Sendable {
    package let finding: Finding

    init(_ rule: Rule, _ detail: String) { finding = Finding(rule, detail) }
  }
}

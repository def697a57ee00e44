import CRabbitMQ
import Foundation
import Pipeline
import Vocabulary

/// Why the broker itself moved a message to where it is: the newest entry of its `x-death`.
/// Copies that we publish have none: they are stripped of it.
package struct BrokerDeath: Hashable, Sendable {
  /// The queue it was in.
  package let queue: String
  /// `rejected`, `expired`, `maxlen` or `delivery_limit`.
  package let reason: String
  /// When; whole seconds. Nil when the broker did not say.
  package let at: UnixTime?

  package init(queue: String, reason: String, at: UnixTime? = nil) {
    self.queue = queue
    self.reason = reason
    self.at = at
  }
}

extension BrokerDeath {
  /// Nil without such headers. RabbitMQ up to 3.13 writes `x-first-death-*`, and from 4 on
  /// `x-last-death-*` too; they stand in where `x-death` was lost on the way.
  init?(_ properties: amqp_basic_properties_t) {
    guard properties._flags & UInt32(AMQP_BASIC_HEADERS_FLAG) != 0 else { return nil }
    let table = properties.headers
    let entries = UnsafeBufferPointer(start: table.entries, count: Int(table.num_entries))
    // Hardly any message has died: no string is made of the names of all those that have not.
    guard entries.contains(where: { Self.tellsOfDeath($0.key) }) else { return nil }
    for entry in entries where String(entry.key) == "x-death" {
      if let newest = Self.newest(of: entry.value) {
        self = newest
        return
      }
    }
    let headers = MessageHeaders(table)
    for which in ["last", "first"] {
      if case .text(let queue) = headers["x-\(which)-death-queue"],
        case .text(let reason) = headers["x-\(which)-death-reason"]
      {
        self.init(queue: queue, reason: reason)
        return
      }
    }
    return nil
  }

  private static func tellsOfDeath(_ name: amqp_bytes_t) -> Bool {
    func begins(_ wanted: StaticString) -> Bool {
      name.len >= wanted.utf8CodeUnitCount
        && memcmp(name.bytes, wanted.utf8Start, wanted.utf8CodeUnitCount) == 0
    }
    return begins("x-death") || begins("x-first-death-") || begins("x-last-death-")
  }

  private static func newest(of field: amqp_field_value_t) -> BrokerDeath? {
    guard field.kind == UInt8(AMQP_FIELD_KIND_ARRAY.rawValue) else { return nil }
    let array = field.value.array
    guard array.num_entries > 0, let entries = array.entries,
      entries[0].kind == UInt8(AMQP_FIELD_KIND_TABLE.rawValue)
    else { return nil }
    let death = MessageHeaders(entries[0].value.table)
    guard case .text(let queue) = death["queue"], case .text(let reason) = death["reason"] else {
      return nil
    }
    var at: UnixTime?
    if case .integer(let seconds) = death["time"] { at = UnixTime(seconds: seconds) }
    return BrokerDeath(queue: queue, reason: reason, at: at)
  }
}

import Vocabulary

/// What the management API tells of one queue now; nil where it has nothing to say yet.
package struct QueueStatistics: Decodable, Hashable, Sendable {
  package let name: String
  package let ready: Int?
  package let unacked: Int?
  package let consumers: Int?
  /// Those two, and what the broker could not hand over to another queue yet.
  package let all: Int?

  enum CodingKeys: String, CodingKey {
    case name, consumers
    case all = "messages"
    case ready = "messages_ready"
    case unacked = "messages_unacknowledged"
  }
}

extension QueueStatistics {
  /// Its time in this queue is over, or it failed too often, and it has reached no other queue: the
  /// broker keeps such a message and counts it neither as ready nor as unacknowledged.
  var held: Int { max(0, (all ?? 0) - (ready ?? 0) - (unacked ?? 0)) }
}

/// What a queue's history says about it.
package struct QueuePast: Sendable {
  /// Messages per second; nil when not known.
  package let rates: (arriving: Double, leaving: Double)?
  /// Nil when not known.
  package let oldest: QueueAge?
  /// The moment of its newest sample, by the broker's clock. Nil without any.
  package let toldAt: UnixTime?
}

/// Looking at queues, which changes nothing about them.
extension BrokerManagement {
  /// Of every queue of the virtual host.
  package func statistics() throws(ManagementFailure) -> [QueueStatistics] {
    let columns = "name,messages,messages_ready,messages_unacknowledged,consumers"
    return try get("queues/\(segment)?columns=\(columns)")
  }

  /// The last ten minutes of one queue, and when its oldest message is older than that, the last
  /// hour, less closely.
  package func past(of queue: String) throws(ManagementFailure) -> QueuePast {
    let recent = try history(of: queue, reaching: .seconds(600), every: .seconds(5))
    var oldest = recent.oldest
    if let age = oldest?.atLeast, let span = recent.span, age >= span - Self.nearlyAll {
      let long = try history(of: queue, reaching: .seconds(3600), every: .seconds(60)).oldest
      if let long, long.atLeast > age { oldest = long }
    }
    return QueuePast(rates: recent.rates, oldest: oldest, toldAt: recent.samples.first?.at)
  }

  private static let nearlyAll: Duration = .seconds(30)

  private func history(of queue: String, reaching span: Duration, every interval: Duration)
    throws(ManagementFailure) -> QueueHistory
  {
    let (age, step) = (span.components.seconds, interval.components.seconds)
    let columns =
      "messages_details,message_stats.ack_details,message_stats.deliver_no_ack_details,"
      + "message_stats.get_no_ack_details"
    let told: JSONValue = try get(
      "queues/\(segment)/\(Self.segment(queue))?lengths_age=\(age)&lengths_incr=\(step)"
        + "&msg_rates_age=\(age)&msg_rates_incr=\(step)&columns=\(columns)")
    return QueueHistory(reading: told, interval: interval)
  }
}

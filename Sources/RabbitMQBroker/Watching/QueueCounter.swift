import CRabbitMQ
import Pipeline

/// Asks the broker itself how many messages wait in queues and who reads them: declares them
/// passively, which takes no right and changes nothing. Owned by one thread.
package final class QueueCounter {
  package struct Count: Hashable, Sendable {
    /// Ready to be taken.
    package let ready: Int
    package let consumers: Int
  }

  private let address: BrokerAddress
  private let limits: BrokerLimits
  private let time: any TimeSource
  private var connection: AMQPConnection?

  package init(
    _ address: BrokerAddress, limits: BrokerLimits = BrokerLimits(), time: any TimeSource
  ) {
    self.address = address
    self.limits = limits
    self.time = time
  }

  package func close() {
    connection?.close()
    connection = nil
  }

  /// By name; without those that do not exist.
  package func counts(of queues: [String]) throws(BrokerLost) -> [String: Count] {
    do throws(BrokerLost) {
      return try asked(of: queues)
    } catch {
      connection = nil
      throw error
    }
  }

  private func asked(of queues: [String]) throws(BrokerLost) -> [String: Count] {
    var counts: [String: Count] = [:]
    let connection = try connected()
    // Answers the heartbeats since the last look.
    while try connection.next(within: .zero) != nil {}
    for queue in queues {
      let name = connection.pool.bytes(queue)
      do throws(CallFailure) {
        try connection.call { state in
          let ok = amqp_queue_declare(
            state, AMQPConnection.channel, name, 1, 0, 0, 0, amqp_table_t())
          guard let ok else { return }
          counts[queue] = Count(
            ready: Int(ok.pointee.message_count), consumers: Int(ok.pointee.consumer_count))
        }
      } catch {
        // A queue that is not there is an answer too.
        if case .refused(let refusal) = error, refusal.code == DriftText.notFound { continue }
        throw error.asLost("queue \(queue)")
      }
    }
    return counts
  }

  private func connected() throws(BrokerLost) -> AMQPConnection {
    if let connection { return connection }
    let made = try AMQPConnection(address, name: "lockstep queues", limits: limits, time: time)
    connection = made
    return made
  }
}

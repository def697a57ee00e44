import CRabbitMQ
import Pipeline

/// Asks the broker itself how many messages wait in queues, without the management API and without
/// touching a message. Owned by one thread.
package final class QueueDepths {
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

  /// How many messages are ready in each of these queues; those in a worker's hand are not counted.
  /// A queue that is not there is left out. Connects when it has to.
  package func ready(in queues: [String]) throws(BrokerLost) -> [String: Int] {
    let connection = try open()
    var depths: [String: Int] = [:]
    do throws(BrokerLost) {
      // Also checks the heartbeat.
      while try connection.next(within: .zero) != nil {}
      for queue in queues { depths[queue] = try depth(of: queue, on: connection) }
    } catch {
      close()
      throw error
    }
    return depths
  }

  package func close() {
    connection?.close()
    connection = nil
  }

  private func open() throws(BrokerLost) -> AMQPConnection {
    if let connection { return connection }
    let made = try AMQPConnection(address, name: "lockstep depths", limits: limits, time: time)
    connection = made
    return made
  }

  private func depth(of queue: String, on connection: AMQPConnection) throws(BrokerLost) -> Int? {
    let name = connection.pool.bytes(queue)
    var depth: Int?
    do throws(CallFailure) {
      try connection.call { state in
        let ok = amqp_queue_declare(
          state, AMQPConnection.channel, name, 1, 0, 0, 0, amqp_table_t())
        if let ok { depth = Int(ok.pointee.message_count) }
      }
    } catch {
      if case .refused = error { return nil }
      throw error.asLost("queue \(queue)")
    }
    return depth
  }
}

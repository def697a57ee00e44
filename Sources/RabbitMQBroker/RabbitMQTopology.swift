import CRabbitMQ
import Foundation
import Pipeline

/// Declares a topology at the broker, and looks whether it is there.
package enum RabbitMQTopology {
  /// Declares everything that is missing. What exists and is the same stays as it is; what exists
  /// and differs is named, never changed or deleted.
  ///
  /// - Throws: ``TopologyFailure``: what differs is named after everything else was declared.
  package static func apply(
    _ topology: Topology, at address: BrokerAddress, limits: BrokerLimits = BrokerLimits(),
    time: any TimeSource
  ) throws(TopologyFailure) {
    var session = try Session(address, limits: limits, time: time)
    for exchange in topology.exchanges { try session.declare(exchange) }
    for queue in topology.queues { try session.declare(queue) }
    for binding in topology.bindings { try session.bind(binding) }
    try session.finish { .differs($0) }
  }

  /// Looks, without changing anything, whether what a worker of `stage` reads and writes is there;
  /// nil stands for a program that only publishes events.
  package static func check(
    _ routes: Routes, stage: StageName?, at address: BrokerAddress,
    limits: BrokerLimits = BrokerLimits(), time: any TimeSource
  ) throws(TopologyFailure) {
    var session = try Session(address, limits: limits, time: time)
    if let stage {
      let route = routes[stage]
      try session.look(forQueue: route.queue)
      let rungs = route.ladder.rungs.flatMap(\.exchanges)
      for exchange in [route.deadExchange] + rungs { try session.look(forExchange: exchange) }
    } else {
      try session.look(forExchange: routes.eventsExchange)
    }
    try session.finish { .missing($0) }
  }
}

/// Why a topology could not be applied, or a worker cannot start on it.
package enum TopologyFailure: Error, Hashable, CustomStringConvertible {
  case broker(BrokerLost)
  /// What exists is not what queues.yaml says, one line each.
  case differs([String])
  /// What a worker needs is not there, one line each.
  case missing([String])

  package var description: String {
    switch self {
    case .broker(let lost): lost.description
    case .differs(let lines):
      (lines + ["nothing that exists was changed: move the messages, delete it, and apply again"])
        .joined(separator: "\n")
    case .missing(let lines):
      (lines + ["run lockstep topology apply"]).joined(separator: "\n")
    }
  }
}

extension RabbitMQTopology {
  /// One connection that goes on after refusals and keeps them.
  private struct Session {
    let connection: AMQPConnection
    var refusals: [String] = []

    init(_ address: BrokerAddress, limits: BrokerLimits, time: any TimeSource)
      throws(TopologyFailure)
    {
      do throws(BrokerLost) {
        connection = try AMQPConnection(
          address, name: "lockstep topology", limits: limits, time: time)
      } catch {
        throw .broker(error)
      }
    }

    func finish(_ failure: ([String]) -> TopologyFailure) throws(TopologyFailure) {
      connection.close()
      if !refusals.isEmpty { throw failure(refusals) }
    }

    mutating func declare(_ exchange: Topology.Exchange) throws(TopologyFailure) {
      let pool = connection.pool
      let (name, kind) = (pool.bytes(exchange.name), pool.bytes(exchange.kind.rawValue))
      let arguments = pool.table(exchange.arguments)
      try attempt("exchange \(exchange.name)") {
        amqp_exchange_declare($0, AMQPConnection.channel, name, kind, 0, 1, 0, 0, arguments)
      }
    }

    mutating func declare(_ queue: Topology.Queue) throws(TopologyFailure) {
      let pool = connection.pool
      let (name, arguments) = (pool.bytes(queue.name), pool.table(queue.arguments))
      try attempt("queue \(queue.name)") {
        amqp_queue_declare($0, AMQPConnection.channel, name, 0, 1, 0, 0, arguments)
      }
    }

    mutating func bind(_ binding: Topology.Binding) throws(TopologyFailure) {
      let pool = connection.pool
      let (queue, exchange) = (pool.bytes(binding.queue), pool.bytes(binding.exchange))
      let key = pool.bytes(binding.routingKey)
      try attempt("binding of \(binding.queue) to \(binding.exchange)") {
        amqp_queue_bind($0, AMQPConnection.channel, queue, exchange, key, amqp_table_t())
      }
    }

    mutating func look(forQueue queue: String) throws(TopologyFailure) {
      let name = connection.pool.bytes(queue)
      try attempt("queue \(queue)") {
        amqp_queue_declare($0, AMQPConnection.channel, name, 1, 0, 0, 0, amqp_table_t())
      }
    }

    mutating func look(forExchange exchange: String) throws(TopologyFailure) {
      let (name, kind) = (connection.pool.bytes(exchange), connection.pool.bytes("direct"))
      try attempt("exchange \(exchange)") {
        amqp_exchange_declare($0, AMQPConnection.channel, name, kind, 1, 0, 0, 0, amqp_table_t())
      }
    }

    private mutating func attempt(
      _ object: String, _ body: (amqp_connection_state_t) -> Void
    ) throws(TopologyFailure) {
      do throws(CallFailure) {
        try connection.call(body)
      } catch {
        switch error {
        case .refused(let refusal):
          refusals.append("\(object): \(DriftText.explain(refusal.code, refusal.text))")
        case .lost(let lost): throw .broker(lost)
        }
      }
    }
  }
}

/// Says RabbitMQ's refusal of a declaration in our words.
enum DriftText {
  static let notFound = 404
  static let preconditionFailed = 406

  static func explain(_ code: Int, _ text: String) -> String {
    if code == notFound { return "is missing" }
    guard code == preconditionFailed, let argument = quoted(after: "inequivalent arg ", in: text)
    else { return "\(code) \(text)" }
    let wanted = value(after: "received ", in: text)
    let actual = value(after: "but current is ", in: text)
    return "\(argument) is \(actual), queues.yaml says \(wanted)"
  }

  private static func quoted(after mark: String, in text: String) -> String? {
    guard let start = text.range(of: mark + "'") else { return nil }
    return text[start.upperBound...].firstIndex(of: "'").map {
      String(text[start.upperBound..<$0])
    }
  }

  /// Both `received the value '6000' of type 'signedint'` and `received '6000'` occur.
  private static func value(after mark: String, in text: String) -> String {
    quoted(after: mark + "the value ", in: text) ?? quoted(after: mark, in: text) ?? "not set"
  }
}

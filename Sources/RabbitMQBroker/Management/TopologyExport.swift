import Pipeline
import Vocabulary

extension Topology {
  /// What RabbitMQ imports: `rabbitmqctl import_definitions`, or `POST /api/definitions`.
  ///
  /// Without accounts and their rights: an import would overwrite passwords that it does not know.
  package func definitions(virtualHost: String) -> JSONValue {
    let host = JSONValue.string(virtualHost)
    let exchanges = exchanges.map { exchange -> JSONValue in
      [
        "name": .string(exchange.name), "vhost": host, "type": .string(exchange.kind.rawValue),
        "durable": .bool(true), "auto_delete": .bool(false), "internal": .bool(false),
        "arguments": Self.object(exchange.arguments),
      ]
    }
    let queues = queues.map { queue -> JSONValue in
      [
        "name": .string(queue.name), "vhost": host, "durable": .bool(true),
        "auto_delete": .bool(false), "arguments": Self.object(queue.arguments),
      ]
    }
    let bindings = bindings.map { binding -> JSONValue in
      [
        "source": .string(binding.exchange), "vhost": host,
        "destination": .string(binding.queue), "destination_type": "queue",
        "routing_key": .string(binding.routingKey), "arguments": .object([:]),
      ]
    }
    return [
      "vhosts": .array([["name": host]]), "exchanges": .array(exchanges),
      "queues": .array(queues), "bindings": .array(bindings),
    ]
  }

  private static func object(_ arguments: [String: HeaderValue]) -> JSONValue {
    .object(
      arguments.mapValues { value in
        switch value {
        case .text(let text): .string(text)
        case .integer(let integer): .integer(integer)
        case .flag(let flag): .bool(flag)
        }
      })
  }
}

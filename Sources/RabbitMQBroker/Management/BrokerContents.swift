import Pipeline
import Vocabulary

/// What a virtual host holds, as the management API tells it.
package struct BrokerContents: Sendable {
  package struct Queue: Decodable, Sendable {
    package let name: String
    package let durable: Bool
    package let arguments: [String: JSONValue]
    /// Name of the user policy that applies; empty or missing without one.
    package let policy: String?
    package let operatorPolicy: String?
    /// An object, or an empty list when no policy applies.
    package let effectivePolicyDefinition: JSONValue?

    enum CodingKeys: String, CodingKey {
      case name, durable, arguments, policy
      case operatorPolicy = "operator_policy"
      case effectivePolicyDefinition = "effective_policy_definition"
    }
  }

  package struct Exchange: Decodable, Sendable {
    package let name: String
    package let type: String
    package let durable: Bool
    package let arguments: [String: JSONValue]
  }

  package struct Binding: Decodable, Hashable, Sendable {
    /// An exchange; empty for the default one, to which every queue is bound.
    package let source: String
    package let destination: String
    /// `queue` or `exchange`.
    package let destinationType: String
    package let routingKey: String

    enum CodingKeys: String, CodingKey {
      case source, destination
      case destinationType = "destination_type"
      case routingKey = "routing_key"
    }
  }

  package struct Permission: Decodable, Sendable {
    package let user: String
    package let configure: String
    package let write: String
    package let read: String
  }

  package let queues: [Queue]
  package let exchanges: [Exchange]
  package let bindings: [Binding]
  /// Nil when our account may not see them.
  package let permissions: [Permission]?
}

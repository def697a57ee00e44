import Foundation
import Pushes
import Vocabulary

/// One Web Push as it leaves.
package struct WebPushRequest: Hashable, Sendable {
  /// Names the request within its carrier; the answer carries it back.
  package let number: UInt64
  package let endpoint: PushEndpoint
  /// Whether the name may lead to an address that is not public: for tests.
  package let liftsAddressRule: Bool
  /// `vapid t=…, k=…`.
  package let authorization: String
  /// How long the push service may keep it, in seconds.
  package let ttl: Int64
  /// 32 characters of base64url.
  package let topic: String
  /// `aes128gcm`, at most 4096 octets.
  package let body: Data

  package init(
    number: UInt64, endpoint: PushEndpoint, liftsAddressRule: Bool, authorization: String,
    ttl: Int64, topic: String, body: Data
  ) {
    self.number = number
    self.endpoint = endpoint
    self.liftsAddressRule = liftsAddressRule
    self.authorization = authorization
    self.ttl = ttl
    self.topic = topic
    self.body = body
  }
}

package struct WebPushResult: Hashable, Sendable {
  /// ``WebPushRequest/number``.
  package let number: UInt64
  package let outcome: WebPushOutcome

  package init(number: UInt64, outcome: WebPushOutcome) {
    self.number = number
    self.outcome = outcome
  }
}

/// Carries pushes to push services. Owned by one thread, never blocks: ``advance()`` does what can
/// be done now, the owner polls ``descriptors`` between.
package protocol WebPushCarrier: AnyObject {
  /// Descriptors and the poll(2) events they wait for.
  var descriptors: [(descriptor: Int32, events: Int16)] { get }
  /// How many more requests may be handed over now.
  var capacity: Int { get }
  /// How many requests have no result yet.
  var inFlight: Int { get }
  func send(_ request: WebPushRequest)
  /// Resolves, connects, reads, writes, checks deadlines.
  ///
  /// - Returns: what has been settled since the last call, each request exactly once.
  func advance() -> [WebPushResult]
  /// Ends all connections; requests in flight are given up without a result.
  func close()
}

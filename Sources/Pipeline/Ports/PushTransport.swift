import Foundation
import Pushes
import Vocabulary

/// One request as it leaves: the headers that differ from push to push, and the finished body.
package struct PushRequest: Hashable, Sendable {
  /// Names the request within its transport; the answer carries it back.
  package let number: UInt64
  package let token: PushToken
  package let environment: PushEnvironment
  package let topic: String
  package let pushType: String
  package let priority: Int
  /// Nil: no header, APNs' own policy. 0: one attempt, not stored. Else Unix seconds.
  package let expiration: Int64?
  package let collapseID: String?
  /// Lower-case UUID.
  package let apnsID: String
  package let body: Data
  /// False until APNs accepted this token once: it goes on the probation connection, so that its
  /// refusal cannot slow good traffic.
  package let isProven: Bool
  /// After this the push is pointless; nil: no limit but the transport's own.
  package let deadline: UnixTime?
  /// Where it goes instead of to ``token``; nil for a push to a token.
  package let broadcast: BroadcastAddress?

  package init(
    number: UInt64, token: PushToken, environment: PushEnvironment, topic: String, pushType: String,
    priority: Int, expiration: Int64?, collapseID: String?, apnsID: String, body: Data,
    isProven: Bool, deadline: UnixTime? = nil, broadcast: BroadcastAddress? = nil
  ) {
    self.number = number
    self.token = token
    self.environment = environment
    self.topic = topic
    self.pushType = pushType
    self.priority = priority
    self.expiration = expiration
    self.collapseID = collapseID
    self.apnsID = apnsID
    self.body = body
    self.isProven = isProven
    self.deadline = deadline
    self.broadcast = broadcast
  }
}

package struct PushResult: Hashable, Sendable {
  /// ``PushRequest/number``.
  package let number: UInt64
  package let outcome: PushOutcome

  package init(number: UInt64, outcome: PushOutcome) {
    self.number = number
    self.outcome = outcome
  }
}

/// Carries pushes to APNs. Owned by one thread, never blocks: ``advance()`` does what can be done
/// now, the owner polls ``descriptors`` between.
package protocol PushTransport: AnyObject {
  /// Descriptors and the poll(2) events they wait for.
  var descriptors: [(descriptor: Int32, events: Int16)] { get }
  /// How many more requests may be handed over now, 0 when the connections are full or away.
  var capacity: Int { get }
  /// How many requests have no result yet.
  var inFlight: Int { get }
  func send(_ request: PushRequest)
  /// Reads, writes, connects, checks deadlines.
  ///
  /// - Returns: what has been settled since the last call, each request exactly once.
  func advance() -> [PushResult]
  /// Ends all connections; requests in flight are given up without a result.
  func close()
}

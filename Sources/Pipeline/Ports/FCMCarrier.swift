import Foundation
import Pushes

/// One message as it leaves; the carrier adds the access token.
package struct FCMRequest: Hashable, Sendable {
  /// Names the request within its carrier; the answer carries it back.
  package let number: UInt64
  /// JSON for `messages:send`.
  package let body: Data

  package init(number: UInt64, body: Data) {
    self.number = number
    self.body = body
  }
}

package struct FCMResult: Hashable, Sendable {
  /// ``FCMRequest/number``.
  package let number: UInt64
  package let outcome: FCMOutcome
  /// Of the access token that it went out with; nil when nothing went out.
  package let accessToken: Int?

  package init(number: UInt64, outcome: FCMOutcome, accessToken: Int?) {
    self.number = number
    self.outcome = outcome
    self.accessToken = accessToken
  }
}

/// Carries messages to FCM, and keeps the access token that they need. Owned by one thread, never
/// blocks: ``advance()`` does what can be done now, the owner polls ``descriptors`` between.
package protocol FCMCarrier: AnyObject {
  /// Descriptors and the poll(2) events they wait for.
  var descriptors: [(descriptor: Int32, events: Int16)] { get }
  /// How many more requests may be handed over now.
  var capacity: Int { get }
  /// How many requests have no result yet.
  var inFlight: Int { get }
  func send(_ request: FCMRequest)
  /// FCM refused the access token of this number: the next message waits for a new one, unless that
  /// came already.
  func renewAccessToken(refused number: Int)
  /// Resolves, connects, reads, writes, checks deadlines.
  ///
  /// - Returns: what has been settled since the last call, each request exactly once.
  func advance() -> [FCMResult]
  /// Ends all connections; requests in flight are given up without a result.
  func close()
}

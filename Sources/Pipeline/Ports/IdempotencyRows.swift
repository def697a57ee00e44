import Foundation
import Vocabulary

/// The answer to a request that carried an `Idempotency-Key`.
package struct StoredAnswer: Hashable, Sendable {
  /// SHA-256 of the request's body.
  package let requestDigest: String
  package let status: Int
  package let headers: [String: String]
  package let body: Data
  package let storedAt: UnixTime

  package init(
    requestDigest: String, status: Int, headers: [String: String], body: Data, storedAt: UnixTime
  ) {
    self.requestDigest = requestDigest
    self.status = status
    self.headers = headers
    self.body = body
    self.storedAt = storedAt
  }
}

package protocol IdempotencyRows {
  func answer(forKey key: String, of user: UserID, route: String) throws -> StoredAnswer?
  func save(_ answer: StoredAnswer, forKey key: String, of user: UserID, route: String) throws
  /// Removes answers stored before `moment`, at most `limit` of them.
  func removeAnswers(storedBefore moment: UnixTime, limit: Int) throws
}

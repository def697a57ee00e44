import Vocabulary

/// What is over and nobody asks for any more.
package protocol EndedRows {
  /// Removes sessions and activities that have ended and whose `expiresAt` lies before `moment`,
  /// with their answers, what their cards showed, and who was asked to start one. Their deliveries
  /// and histories go by their own age. At most `limit` of each.
  ///
  /// - Returns: how many sessions and activities went.
  func removeEnded(expiredBefore moment: UnixTime, limit: Int) throws -> Int
  /// Removes notifications made before `moment`, at most `limit`.
  ///
  /// - Returns: how many went.
  func removeNotifications(createdBefore moment: UnixTime, limit: Int) throws -> Int
}

import Vocabulary

/// One entry of a user's inbox, what the bell shows.
package struct Notification: Hashable, Sendable {
  package let id: String
  package let userID: UserID
  package let type: String
  package let title: String
  package let body: String
  package let icon: String
  package let link: String
  package let dedupeKey: String
  package var resolvedReason: String?
  package let createdAt: UnixTime
  package var updatedAt: UnixTime
  package var seenAt: UnixTime?
  package var readAt: UnixTime?

  package init(
    id: String, userID: UserID, type: String, title: String, body: String, icon: String,
    link: String, dedupeKey: String, resolvedReason: String? = nil, createdAt: UnixTime,
    updatedAt: UnixTime, seenAt: UnixTime? = nil, readAt: UnixTime? = nil
  ) {
    self.id = id
    self.userID = userID
    self.type = type
    self.title = title
    self.body = body
    self.icon = icon
    self.link = link
    self.dedupeKey = dedupeKey
    self.resolvedReason = resolvedReason
    self.createdAt = createdAt
    self.updatedAt = updatedAt
    self.seenAt = seenAt
    self.readAt = readAt
  }
}

package protocol NotificationRows {
  /// Inserts unless the user already has one with this dedupe key.
  ///
  /// - Returns: whether it was inserted.
  func insert(_ notification: Notification) throws -> Bool
  /// Newest first, by (createdAt, id), at most `limit`; those before `cursor`'s place, and only
  /// those changed at or after `updatedSince`.
  func notifications(
    of user: UserID, before cursor: (createdAt: UnixTime, id: String)?, updatedSince: UnixTime?,
    limit: Int
  ) throws -> [Notification]
  func notification(_ id: String, of user: UserID) throws -> Notification?
  func save(_ notification: Notification) throws
  /// Resolves what is not resolved yet, of every user.
  ///
  /// - Returns: the rows that changed.
  func resolve(dedupeKey: String, because reason: String, at moment: UnixTime) throws
    -> [Notification]
  /// Those of these dedupe keys whose notifications are resolved.
  func resolvedKeys(among dedupeKeys: [String]) throws -> Set<String>
}

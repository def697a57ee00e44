import Vocabulary

/// What an app's bell shows: the newest of `GET /api/notifications`.
package struct Inbox: Hashable, Sendable {
  /// One notification, as the API tells it.
  package struct Entry: Hashable, Sendable, Codable {
    package let id: String
    package let title: String
    package let body: String
    package let icon: String
    package let link: String
    package let dedupeKey: String
    /// 0 or 1; final once it is 1.
    package let resolved: Int
    package let resolvedReason: String?
    package let createdAt: UnixTime
    package let seenAt: UnixTime?

    enum CodingKeys: String, CodingKey {
      case id, title, body, icon, link, resolved
      case dedupeKey = "dedupe_key"
      case resolvedReason = "resolved_reason"
      case createdAt = "created_at"
      case seenAt = "seen_at"
    }

    package var isResolved: Bool { resolved == 1 }
  }

  /// Newest first.
  package let entries: [Entry]

  /// What the badge says: neither seen nor over.
  package var unread: Int { entries.count { !$0.isResolved && $0.seenAt == nil } }

  /// The keys of those that are over.
  package var resolvedKeys: Set<String> {
    Set(entries.filter(\.isResolved).map(\.dedupeKey))
  }
}

extension Inbox: Codable {
  enum CodingKeys: String, CodingKey { case entries = "notifications" }
}

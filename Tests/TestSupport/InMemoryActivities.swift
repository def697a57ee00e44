import Activities
import Pipeline
import Pushes
import Vocabulary

// Activities that a program drives, in the in-memory store.
extension InMemoryTransaction {
  private func allActivities() throws -> [Activity] {
    try rows().activities.values.map { try JSON.decode(Activity.self, from: $0) }
  }

  func activity(_ key: ActivityKey) throws -> Activity? {
    try rows().activities[key].map { try JSON.decode(Activity.self, from: $0) }
  }

  func save(_ activity: Activity) throws {
    try change { $0.activities[activity.key] = JSON.encoded(activity) }
  }

  func activities(of user: UserID, limit: Int) throws -> [Activity] {
    let own = try allActivities().filter { $0.recipient(user) != nil }
    return Array(
      own.sorted {
        $0.updatedAt == $1.updatedAt ? $0.key < $1.key : $0.updatedAt > $1.updatedAt
      }.prefix(limit))
  }

  func expiredActivities(at moment: UnixTime, limit: Int) throws -> [Activity] {
    let due = try allActivities().filter { $0.state == .live && $0.expiresAt <= moment }
    return Array(
      due.sorted { ($0.expiresAt, $0.key) < ($1.expiresAt, $1.key) }.prefix(limit))
  }

  func earliestActivityExpiry() throws -> UnixTime? {
    try allActivities().filter { $0.state == .live }.map(\.expiresAt).min()
  }

  func activitiesWithChannelDue(at moment: UnixTime, limit: Int) throws -> [Activity] {
    let due = try allActivities().compactMap { activity in
      activity.channel?.dueAt.map { (dueAt: $0, activity: activity) }
    }.filter { $0.dueAt <= moment }
    return Array(
      due.sorted { ($0.dueAt, $0.activity.key) < ($1.dueAt, $1.activity.key) }.prefix(limit)
    ).map(\.activity)
  }

  func replace(_ seen: Activity, with next: Activity) throws -> Bool {
    guard let stored = try activity(seen.key), stored.state == seen.state, stored.rev == seen.rev,
      stored.expiresAt == seen.expiresAt, stored.channel?.dueAt == seen.channel?.dueAt
    else { return false }
    try save(next)
    return true
  }

  func startsSent(to user: UserID, on device: String?, since moment: UnixTime) throws -> [Start] {
    try rows().starts.filter {
      $0.userID == user && $0.deviceID == device && $0.firstAskedAt >= moment
        && $0.cardsMax > 0
    }.sorted {
      ($0.firstAskedAt, $0.sessionID, $0.token.hex) < ($1.firstAskedAt, $1.sessionID, $1.token.hex)
    }
  }
}

import Activities
import Pipeline
import Vocabulary

// No rule of these is ever broken on purpose.
extension ForwardingTransaction {
  func activity(_ key: ActivityKey) throws -> Activity? {
    try inner.activity(key)
  }
  func save(_ activity: Activity) throws {
    try inner.save(activity)
  }
  func activities(of user: UserID, limit: Int) throws -> [Activity] {
    try inner.activities(of: user, limit: limit)
  }
  func expiredActivities(at moment: UnixTime, limit: Int) throws -> [Activity] {
    try inner.expiredActivities(at: moment, limit: limit)
  }
  func earliestActivityExpiry() throws -> UnixTime? {
    try inner.earliestActivityExpiry()
  }
  func activitiesWithChannelDue(at moment: UnixTime, limit: Int) throws -> [Activity] {
    try inner.activitiesWithChannelDue(at: moment, limit: limit)
  }
  func replace(_ seen: Activity, with next: Activity) throws -> Bool {
    try inner.replace(seen, with: next)
  }
}

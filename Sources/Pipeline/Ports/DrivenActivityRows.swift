import Activities
import Vocabulary

/// The activities that a program drives through the API. What their cards show is in
/// ``ActivityRows``, as that of a cook session is.
package protocol DrivenActivityRows {
  func activity(_ key: ActivityKey) throws -> Activity?
  /// Inserts or replaces the activity and its recipients.
  func save(_ activity: Activity) throws
  /// Those that the user has or had a card of: the ones changed last first, at most `limit`.
  func activities(of user: UserID, limit: Int) throws -> [Activity]
  /// Live ones whose `expiresAt` is `moment` or earlier: the ones overdue longest first, at most
  /// `limit`.
  func expiredActivities(at moment: UnixTime, limit: Int) throws -> [Activity]
  /// The earliest `expiresAt` of a live one; nil when there is none.
  func earliestActivityExpiry() throws -> UnixTime?
  /// Those whose channel is to be looked after at `moment` or earlier: the ones overdue longest
  /// first, at most `limit`.
  func activitiesWithChannelDue(at moment: UnixTime, limit: Int) throws -> [Activity]
  /// Compare and set: saves `next` if what is stored still has the state, rev, `expiresAt` and
  /// channel's `dueAt` of `seen`.
  ///
  /// - Returns: false when somebody else changed it first; then nothing has happened.
  func replace(_ seen: Activity, with next: Activity) throws -> Bool
}

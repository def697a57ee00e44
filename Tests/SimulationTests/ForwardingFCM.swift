import Pipeline
import Pushes
import Vocabulary

// No rule of these is ever broken on purpose; the others of FCM stand in the class.
extension ForwardingTransaction {
  func register(_ registration: FCMRegistration) throws {
    try inner.register(registration)
  }
  func unregister(_ token: FCMToken, of user: UserID) throws -> Int {
    try inner.unregister(token, of: user)
  }
  func fcmRegistrations(of users: [UserID]) throws -> [UserID: [FCMRegistration]] {
    try inner.fcmRegistrations(of: users)
  }
  func fcmRegistrations(_ tokens: [FCMToken]) throws -> [FCMToken: FCMRegistration] {
    try inner.fcmRegistrations(tokens)
  }
  func prune(
    _ token: FCMToken, because reason: String, unlessRegisteredAfter moment: UnixTime,
    at now: UnixTime
  ) throws -> Bool {
    try inner.prune(token, because: reason, unlessRegisteredAfter: moment, at: now)
  }
  func restore(_ tokens: [FCMToken], prunedBecause reason: String) throws -> Int {
    try inner.restore(tokens, prunedBecause: reason)
  }
  func fcmRows(_ query: FCMQuery, after place: Int64, limit: Int) throws
    -> [(place: Int64, row: FCMRow)]
  {
    try inner.fcmRows(query, after: place, limit: limit)
  }
  func pruneFCM(
    registeredBefore moment: UnixTime, because reason: String, at now: UnixTime, limit: Int
  ) throws -> Int {
    try inner.pruneFCM(registeredBefore: moment, because: reason, at: now, limit: limit)
  }
  func removeFCM(prunedBefore pruned: UnixTime, deliveredBefore delivered: UnixTime, limit: Int)
    throws -> Int
  {
    try inner.removeFCM(prunedBefore: pruned, deliveredBefore: delivered, limit: limit)
  }
}

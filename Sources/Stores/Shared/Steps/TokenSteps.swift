import Pipeline
import Pushes
import Vocabulary

extension SQLTransaction {
  func register(_ registration: Registration) throws {
    var arriving = registration
    // A token names one device. When another user registers it, that phone changed hands, and
    // pushes meant for the user before must not appear on it.
    try connection.run(TokenSQL.takeFromOthers, arriving.token, arriving.userID)
    if arriving.deviceID != nil {
      for replaced in try removeReplaced(by: arriving) {
        // A phone that reports a rotated token by one name only stays bound by the other.
        arriving.contextKey = arriving.contextKey ?? replaced.contextKey
        arriving.activityID = arriving.activityID ?? replaced.activityID
      }
    }
    try connection.run(TokenSQL.register, arriving)
  }

  private func removeReplaced(by arriving: Registration) throws -> [(
    contextKey: ContextKey?, activityID: String?
  )] {
    try connection.rows(
      TokenSQL.removeReplaced, arriving.userID, arriving.kind, arriving.deviceID,
      arriving.bundleID, arriving.attributesType, arriving.token, arriving.contextKey,
      arriving.activityID
    ) { (try $0.next(), try $0.next()) }
  }

  func tokenRows(_ query: TokenQuery, after place: Int64, limit: Int) throws
    -> [(place: Int64, row: TokenRow)]
  {
    try connection.rows(
      query.user == nil ? TokenListingSQL.all : .ofUser, query.user, place, query.kind,
      query.isPruned, query.prunedBecause, query.prunedSince, limit,
      query.isUnbound
    ) { (try $0.next(), try TokenRow(row: &$0)) }
  }

  func register(_ registration: FCMRegistration) throws {
    if let device = registration.deviceID {
      try connection.run(
        FCMSQL.replace, registration.userID, device, registration.packageName,
        registration.token)
    }
    try connection.run(FCMSQL.register, registration)
  }

  func fcmRows(_ query: FCMQuery, after place: Int64, limit: Int) throws
    -> [(place: Int64, row: FCMRow)]
  {
    try connection.rows(
      query.user == nil ? FCMSQL.listed : .listedOfUser, query.user, place, query.isPruned,
      query.prunedBecause, query.prunedSince, limit
    ) { (try $0.next(), try FCMRow(row: &$0)) }
  }

  func removeFCM(prunedBefore pruned: UnixTime, deliveredBefore delivered: UnixTime, limit: Int)
    throws -> Int
  {
    try connection.count(FCMSQL.removePruned, pruned, limit)
      + connection.count(FCMSQL.removeDelivered, delivered, limit)
  }

  func save(_ subscription: WebPushSubscription) throws -> WebPushSubscription {
    let saved = try connection.first(
      SubscriptionSQL.save, subscription, read: WebPushSubscription.init(row:))
    guard let saved else { throw StoreError("a subscription that was saved has no row") }
    return saved
  }
}

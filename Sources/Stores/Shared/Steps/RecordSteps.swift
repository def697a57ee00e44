import Pipeline
import Vocabulary

extension SQLTransaction {
  func save(_ report: PhoneReport) throws {
    try connection.run(ActivitySQL.saveReport, report)
    try connection.run(HistorySQL.saveReport, report)
    try connection.run(HistorySQL.removeReportsBeyond, report.contextKey, PhoneReport.keptMax)
  }

  func removeHistory(before moment: UnixTime, limit: Int) throws -> Int {
    try [HistorySQL.removeMutations, .removeBuilds, .removeReports].reduce(0) {
      try $0 + connection.count($1, moment, limit)
    }
  }

  func notifications(
    of user: UserID, before cursor: (createdAt: UnixTime, id: String)?, updatedSince: UnixTime?,
    limit: Int
  ) throws -> [Notification] {
    let place = cursor ?? (UnixTime(milliseconds: .max), "")
    if let updatedSince {
      return try connection.rows(
        NotificationSQL.changed, user, updatedSince, place.createdAt, place.id, limit,
        read: Notification.init(row:))
    }
    return try connection.rows(
      NotificationSQL.newest, user, place.createdAt, place.id, limit,
      read: Notification.init(row:))
  }

  func resolve(dedupeKey: String, because reason: String, at moment: UnixTime) throws
    -> [Notification]
  {
    try connection.rows(
      NotificationSQL.resolve, dedupeKey, reason, moment, read: Notification.init(row:)
    ).sorted { $0.userID < $1.userID }
  }

  func hasFreeEvents(now: UnixTime) throws -> Bool {
    try connection.first(OutboxSQL.hasFree, now, now + OutboxEvent.holdMax) { try $0.next() }
      ?? false
  }

  func leaseEvents(atMost count: Int, now: UnixTime, until: UnixTime) throws -> [OutboxEvent] {
    try connection.rows(
      OutboxSQL.lease, now, now + OutboxEvent.holdMax, count, until,
      read: OutboxEvent.init(row:)
    )
    .sorted { $0.sequence < $1.sequence }
  }
}

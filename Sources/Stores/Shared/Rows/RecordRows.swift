import Pipeline
import Vocabulary

extension DeliveryRecord: StoredRow {
  func write(to columns: inout some ColumnWriter) {
    columns.append(
      jobID, sessionID, userID, contextKey, rev, tokenFingerprint, event, status, reason, attempt,
      causedAt, settledAt, wasSent, consequence)
  }

  init(row: inout some SQLRow) throws {
    self.init(
      jobID: try row.next(), sessionID: try row.next(), userID: try row.next(),
      contextKey: try row.next(), rev: try row.next(), tokenFingerprint: try row.next(),
      event: try row.next(), status: try row.next(), reason: try row.next(),
      attempt: try row.next(), causedAt: try row.next(), settledAt: try row.next(),
      wasSent: try row.next(), consequence: try row.next())
  }
}

extension MutationRecord: StoredRow {
  func write(to columns: inout some ColumnWriter) {
    columns.append(sessionID, rev, mutation, userID, eventID, eventType, acceptedAt)
  }

  init(row: inout some SQLRow) throws {
    self.init(
      sessionID: try row.next(), rev: try row.next(), mutation: try row.next(),
      userID: try row.next(), eventID: try row.next(), eventType: try row.next(),
      acceptedAt: try row.next())
  }
}

extension BuildRecord: StoredRow {
  func write(to columns: inout some ColumnWriter) {
    columns.append(
      sessionID, userID, contextKey, rev, outcome, updateJobs, startJobs, fcmJobs, reason, builtAt)
  }

  init(row: inout some SQLRow) throws {
    self.init(
      sessionID: try row.next(), userID: try row.next(), contextKey: try row.next(),
      rev: try row.next(), outcome: try row.next(), updateJobs: try row.next(),
      startJobs: try row.next(), fcmJobs: try row.next(), reason: try row.next(),
      builtAt: try row.next())
  }
}

extension Notification: StoredRow {
  func write(to columns: inout some ColumnWriter) {
    columns.append(
      userID, id, type, title, body, icon, link, dedupeKey, resolvedReason, createdAt, updatedAt,
      seenAt, readAt)
  }

  init(row: inout some SQLRow) throws {
    let user: UserID = try row.next()
    self.init(
      id: try row.next(), userID: user, type: try row.next(), title: try row.next(),
      body: try row.next(), icon: try row.next(), link: try row.next(),
      dedupeKey: try row.next(), resolvedReason: try row.next(), createdAt: try row.next(),
      updatedAt: try row.next(), seenAt: try row.next(), readAt: try row.next())
  }
}

extension StoredAnswer: StoredRow {
  func write(to columns: inout some ColumnWriter) {
    columns.append(requestDigest, status, JSONText(encoding: headers), body, storedAt)
  }

  init(row: inout some SQLRow) throws {
    self.init(
      requestDigest: try row.next(), status: try row.next(),
      headers: try row.decoded("the headers of a stored answer"), body: try row.next(),
      storedAt: try row.next())
  }
}

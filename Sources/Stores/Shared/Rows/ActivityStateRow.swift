import Foundation
import Pipeline
import Vocabulary

extension ActivityState: StoredRow {
  func write(to columns: inout some ColumnWriter) {
    columns.append(
      contextKey, sessionID, userID, rev, event, JSONText(data: contentState), attributesType,
      attributes.map(JSONText.init(data:)), alertTitle, alertBody, staleAt, dismissAt, deadline,
      causedAt, traceparent, extras.map(JSONText.init(encoding:)))
  }

  convenience init(row: inout some SQLRow) throws {
    self.init(
      contextKey: try row.next(), sessionID: try row.next(), userID: try row.next(),
      rev: try row.next(), event: try row.next(),
      contentState: (try row.next() as JSONText).data, attributesType: try row.next(),
      attributes: (try row.next() as JSONText?)?.data, alertTitle: try row.next(),
      alertBody: try row.next(), staleAt: try row.next(), dismissAt: try row.next(),
      deadline: try row.next(), causedAt: try row.next(), traceparent: try row.next(),
      extras: try (row.next() as JSONText?)?.decoded("extras of a state"))
  }
}

extension PhoneReport: StoredRow {
  func write(to columns: inout some ColumnWriter) {
    columns.append(contextKey, userID, state, rev, reportedAt)
  }

  init(row: inout some SQLRow) throws {
    self.init(
      contextKey: try row.next(), userID: try row.next(), state: try row.next(),
      rev: try row.next(), reportedAt: try row.next())
  }
}

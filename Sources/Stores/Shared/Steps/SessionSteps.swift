import Activities
import Foundation
import Pipeline
import Sessions
import Vocabulary

extension SQLTransaction {
  func save(_ session: Session) throws {
    try connection.run(SessionSQL.save, session)
    try saveParticipants(of: session)
    try connection.run(
      SessionSQL.removeOtherParticipants, session.id, session.participants.map(\.userID))
  }

  func replace(_ seen: Session, with next: Session) throws -> Bool {
    let changed = try connection.count(
      SessionSQL.replace, next, seen.state, seen.rev, seen.expiresAt)
    guard changed > 0 else { return false }
    try saveParticipants(of: next)
    return true
  }

  func saveAnswers(_ json: Data, of user: UserID, in session: SessionID) throws {
    try connection.run(SessionSQL.saveAnswers, session, user, JSONText(data: json))
  }

  func answers(in session: SessionID) throws -> [UserID: Data] {
    let rows = try connection.rows(SessionSQL.answers, session) { row in
      (user: try row.next() as UserID, json: try row.next() as JSONText)
    }
    return Dictionary(uniqueKeysWithValues: rows.map { ($0.user, $0.json.data) })
  }

  func save(_ activity: Activity) throws {
    try connection.run(DrivenActivitySQL.save, activity)
    try saveRecipients(of: activity)
  }

  func replace(_ seen: Activity, with next: Activity) throws -> Bool {
    let changed = try connection.count(
      DrivenActivitySQL.replace, next, seen.state, seen.rev, seen.expiresAt, seen.channel?.dueAt)
    guard changed > 0 else { return false }
    try saveRecipients(of: next)
    return true
  }
}

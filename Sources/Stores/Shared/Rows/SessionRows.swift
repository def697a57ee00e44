import Activities
import Pipeline
import Sessions
import Vocabulary

// Of sessions and activities the JSON is the truth, and all that is read. The other columns repeat
// what is searched for.

extension Session: SQLColumns {
  func write(to columns: inout some ColumnWriter) {
    columns.append(
      id, JSONText(encoding: self), state, rev, isLive, expiresAt, jobInHand.map { _ in updatedAt })
  }

  private var isLive: Bool { !state.isFinal }

  init(row: inout some SQLRow) throws { self = try row.decoded("a stored session") }

  /// Who is in it, as rows of their own.
  var participantRows: [ParticipantRow] {
    participants.map {
      ParticipantRow(
        session: id, user: $0.userID, status: $0.status, isLive: isLive && $0.isPresent)
    }
  }
}

struct ParticipantRow: SQLColumns {
  let session: SessionID
  let user: UserID
  let status: Participant.Status
  /// Present in a session that is not over: counts against how many a user may have.
  let isLive: Bool

  func write(to columns: inout some ColumnWriter) {
    columns.append(session, user, status, isLive)
  }
}

extension Activity: SQLColumns {
  func write(to columns: inout some ColumnWriter) {
    columns.append(key, JSONText(encoding: self), state, rev, expiresAt, channel?.dueAt)
  }

  init(row: inout some SQLRow) throws { self = try row.decoded("a stored activity") }
}

extension Profile: StoredRow {
  func write(to columns: inout some ColumnWriter) {
    columns.append(userID, name, tint, emoji, locale)
  }

  init(row: inout some SQLRow) throws {
    self.init(
      userID: try row.next(), name: try row.next(), tint: try row.next(), emoji: try row.next(),
      locale: try row.next())
  }
}

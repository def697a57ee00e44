import Activities
import Foundation
import Pipeline
import Sessions
import Vocabulary

/// Writes an evening's traffic as a recording.
package enum EveningRecording {
  package struct Report: Hashable, Sendable {
    package var events = 0
    package var sessions = 0
    package var activities = 0
    package var users = 0
  }

  /// Writes to a new file at `path`; it may be played like one of real events.
  ///
  /// - Throws: what kept the file from being written.
  package static func write(_ plan: Evening.Plan, to path: String) throws -> Report {
    let file = RecordingFile(
      path: path, rotation: .init(bytesMax: .max, span: .seconds(1_000_000_000))
    ) { _ in
      RecordingHeader(
        version: RecordingHeader.versionNow, madeAt: plan.begin,
        source: "generated with seed \(plan.seed)", anonymised: true)
    }
    var report = Report()
    var sessions: Set<SessionID> = []
    var activities: Set<SessionID> = []
    var users: Set<UserID> = []
    for event in Evening(plan) {
      let form = RecordedForm(event.message, standIns: nil, receivedAt: event.storedAt)
      guard case .event(let line, let named, let session) = form else {
        preconditionFailure("an event of ours can be read")
      }
      report.events += 1
      if let session {
        if ActivityEventType(typeName: event.message.type) == nil {
          sessions.insert(session.id)
        } else {
          activities.insert(session.id)
        }
      }
      users.formUnion(named)
      try file.add(line, users: named, at: event.storedAt) { user in
        RecordedUser(user: user, tokens: RecordedUser.usualTokens, assumed: nil, locale: nil)
      }
    }
    try file.finish(
      RecordingEnd(events: report.events, missed: 0, leftOut: 0), at: plan.begin + plan.span)
    report.sessions = sessions.count
    report.activities = activities.count
    report.users = users.count
    return report
  }
}

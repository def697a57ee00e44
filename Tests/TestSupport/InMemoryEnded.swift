import Activities
import Foundation
import Pipeline
import Sessions
import Vocabulary

extension InMemoryTransaction {
  func removeEnded(expiredBefore moment: UnixTime, limit: Int) throws -> Int {
    try change { tables in
      let sessions = try tables.sessions.values.map { try JSON.decode(Session.self, from: $0) }
        .filter { $0.state.isFinal && $0.expiresAt < moment }
        .sorted { $0.expiresAt < $1.expiresAt }.prefix(limit)
      let activities = try tables.activities.values.map { try JSON.decode(Activity.self, from: $0) }
        .filter { $0.state == .ended && $0.expiresAt < moment }
        .sorted { $0.expiresAt < $1.expiresAt }.prefix(limit)
      let gone = Set(sessions.map(\.id) + activities.map(\.sessionID))
      let contexts = tables.activityState.values.filter { gone.contains($0.sessionID) }
        .map(\.contextKey)
      for context in contexts {
        tables.activityState[context] = nil
        tables.activityReports[context] = nil
      }
      tables.starts.removeAll { gone.contains($0.sessionID) }
      for session in sessions {
        tables.answers[session.id] = nil
        tables.sessions[session.id] = nil
      }
      for activity in activities { tables.activities[activity.key] = nil }
      return sessions.count + activities.count
    }
  }

  func removeNotifications(createdBefore moment: UnixTime, limit: Int) throws -> Int {
    try change { tables in
      let old = tables.notifications.filter { $0.createdAt < moment }
        .sorted { $0.createdAt < $1.createdAt }.prefix(limit)
      tables.notifications.removeAll { one in
        old.contains { $0.id == one.id && $0.userID == one.userID }
      }
      return old.count
    }
  }
}

import Pipeline
import Sessions
import Vocabulary

/// What the store has written down of pushes that never reached a phone: read session by session,
/// only where one is missing.
package final class StoredFates {
  private let store: any Store
  private var session: SessionID?
  private var deliveries: [DeliveryRecord] = []
  private var builds: [BuildRecord] = []
  /// Why the store could not be read; then nothing is known.
  package private(set) var trouble: String?

  package init(_ store: any Store) { self.store = store }

  package func fate(of session: SessionID, _ user: UserID, _ rev: Int) -> RecordedFate? {
    if self.session != session { read(session) }
    let consequences = deliveries.filter { $0.userID == user && $0.rev == rev }
      .compactMap(\.consequence)
    let outcomes = builds.filter { $0.userID == user && $0.rev == rev }.map(\.outcome)
    if consequences.contains(.dead) || outcomes.contains(.dead) { return .dead }
    if consequences.contains(.expired) || outcomes.contains(.expired) { return .expired }
    return nil
  }

  private func read(_ session: SessionID) {
    self.session = session
    (deliveries, builds) = ([], [])
    do {
      (deliveries, builds) = try store.read { rows in
        (try rows.deliveries(of: session), try rows.builds(of: session))
      }
    } catch {
      trouble = trouble ?? "\(error)"
    }
  }
}

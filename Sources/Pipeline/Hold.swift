import Vocabulary

/// What one process keeps all others from for a while: until a moment they read from the store.
///
/// Each reads it with a clock of its own, and may have looked at that before it waited for its turn
/// at the store. So a hold that was taken just now may end a little later than any could that the
/// reader takes. One that ends much later was taken before a clock was set back: it counts no more.
package struct Hold: Sendable {
  /// What clocks may differ by, with the longest wait for the store.
  package static let differenceMax: Duration = .seconds(60)

  package let lasts: Duration

  package init(lasts: Duration) { self.lasts = lasts }

  func end(from now: UnixTime) -> UnixTime { now + lasts }

  func isOn(until end: UnixTime, now: UnixTime) -> Bool {
    end > now && end - now <= lasts + Self.differenceMax
  }
}

import Vocabulary

/// The calls that phones still have to make to the API: a value, in order, bounded.
///
/// Two calls with the same key are one: only the newest report of a card is worth telling.
package struct CallQueue: Sendable {
  /// How many calls wait at most in one queue; further ones are refused.
  package static let callsMax = 25_000
  /// The first wait after a failure; each further one is twice as long.
  package static let waitMin = Duration.milliseconds(100)
  package static let waitMax = Duration.seconds(5)

  package struct Entry: Hashable, Sendable {
    package let effect: OwnedEffect
    /// How often it failed.
    package var failures = 0

    /// A card has one registration and one report; each token has one registration.
    var key: String {
      let body = effect.call.body
      let subject = body["token"] ?? body["context_key"] ?? ""
      return "\(effect.phoneID) \(effect.call.path) \(subject)"
    }
  }

  package enum Next: Hashable, Sendable {
    case call(Entry)
    /// Nothing to do for so long; nil when nothing waits.
    case wait(Duration?)
  }

  private var entries: [String: Entry] = [:]
  private var ready: [String] = []
  private var readyStart = 0
  private var later: [(key: String, due: Duration)] = []

  package init() {}

  package var count: Int { entries.count }

  /// - Returns: whether it was taken; not when the queue is full.
  package mutating func add(_ effect: OwnedEffect) -> Bool {
    let entry = Entry(effect: effect)
    if entries.updateValue(entry, forKey: entry.key) != nil { return true }
    guard entries.count <= Self.callsMax else {
      entries[entry.key] = nil
      return false
    }
    ready.append(entry.key)
    return true
  }

  /// Takes the next call that is due.
  package mutating func next(at now: Duration) -> Next {
    if let index = later.firstIndex(where: { $0.due <= now }) {
      let key = later.remove(at: index).key
      if let entry = entries.removeValue(forKey: key) { return .call(entry) }
    }
    while readyStart < ready.count {
      let key = ready[readyStart]
      readyStart += 1
      trim()
      if let entry = entries.removeValue(forKey: key) { return .call(entry) }
    }
    return .wait(later.map { $0.due - now }.min())
  }

  /// Puts a call back that failed, unless a newer one took its place meanwhile.
  package mutating func putBack(_ entry: Entry, at now: Duration) {
    guard entries[entry.key] == nil else { return }
    var again = entry
    again.failures += 1
    let wait = Self.waitMin * (1 << min(entry.failures, 10))
    entries[entry.key] = again
    later.append((entry.key, now + min(wait, Self.waitMax)))
  }

  /// Gives back the room of what was taken, in bulk: removing the first of an array moves the rest.
  private mutating func trim() {
    guard readyStart >= 1024, readyStart * 2 >= ready.count else { return }
    ready.removeFirst(readyStart)
    readyStart = 0
  }
}

import Pipeline

/// Tracks which of the messages published on one channel the broker has answered for.
///
/// Confirms come single or for all up to a tag, in any order. A return comes before the confirm of
/// its message, with others between, so it is matched by what it carries and not by place.
struct ConfirmWindow {
  struct Key: Hashable {
    let messageID: String
    let exchange: String
    let routingKey: String
  }

  private struct Entry {
    let key: Key
    var returnedBecause: String?
    var outcome: PublishOutcome?
  }

  /// The tag of the first entry; tags count all messages of a channel from 1.
  private var firstTag: UInt64
  private var entries: [Entry] = []
  /// Entries below are all answered: multiple confirms need not look at them again.
  private var answeredBelow = 0

  /// How many wait for their confirm.
  private(set) var outstanding = 0

  /// - Parameter nextTag: what the channel gives to the next message.
  init(nextTag: UInt64) { firstTag = nextTag }

  /// The tag of the next message.
  var nextTag: UInt64 { firstTag + UInt64(entries.count) }

  /// In the order published; nil where the broker has not answered.
  var outcomes: [PublishOutcome?] { entries.map(\.outcome) }

  mutating func published(_ key: Key) {
    entries.append(Entry(key: key))
    outstanding += 1
  }

  /// Returns of messages that nobody waits for are ignored.
  mutating func returned(_ key: Key, because reason: String) {
    let place = entries.firstIndex {
      $0.key == key && $0.outcome == nil && $0.returnedBecause == nil
    }
    if let place { entries[place].returnedBecause = reason }
  }

  mutating func confirmed(_ tag: UInt64, multiple: Bool) {
    answer(tag, multiple: multiple) { entry in
      entry.returnedBecause.map { .returned(because: $0) } ?? .confirmed
    }
  }

  mutating func refused(_ tag: UInt64, multiple: Bool) {
    answer(tag, multiple: multiple) { _ in
      .refused(because: "a queue is full, or the broker has a fault")
    }
  }

  /// Tags outside of the window are ignored.
  private mutating func answer(_ tag: UInt64, multiple: Bool, _ outcome: (Entry) -> PublishOutcome)
  {
    guard tag >= firstTag, tag < nextTag else { return }
    let last = Int(tag - firstTag)
    for place in multiple ? answeredBelow...max(last, answeredBelow) : last...last
    where place <= last && entries[place].outcome == nil {
      entries[place].outcome = outcome(entries[place])
      outstanding -= 1
    }
    while answeredBelow < entries.count, entries[answeredBelow].outcome != nil {
      answeredBelow += 1
    }
  }
}

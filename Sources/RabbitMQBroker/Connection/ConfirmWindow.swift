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
    let number: UInt64
    let key: Key
    let sentAt: Duration
    var returnedBecause: String?
    var isAnswered = false
  }

  /// After so many answered entries their memory is given back.
  private static let answeredMax = 512

  /// The tag of the first entry; tags count all messages of a channel from 1.
  private var firstTag: UInt64 = 1
  private var entries: [Entry] = []
  /// Entries below are all answered: multiple confirms need not look at them again.
  private var answeredBelow = 0
  private var answers: [PublishAnswer] = []

  /// How many wait for their confirm.
  private(set) var outstanding = 0
  /// The number of the next message: those that cannot be sent have one too.
  private(set) var nextNumber: UInt64 = 1

  /// When the one that has waited longest was sent; nil when none waits.
  var oldestSentAt: Duration? {
    outstanding == 0 ? nil : entries[answeredBelow].sentAt
  }

  mutating func sent(_ key: Key, at moment: Duration) {
    entries.append(Entry(number: nextNumber, key: key, sentAt: moment))
    nextNumber += 1
    outstanding += 1
  }

  /// This one never went out.
  mutating func unsendable(because reason: String) {
    answers.append(PublishAnswer(number: nextNumber, outcome: .refused(because: reason)))
    nextNumber += 1
  }

  /// Returns of messages that nobody waits for are ignored.
  mutating func returned(_ key: Key, because reason: String) {
    let place = entries.indices.dropFirst(answeredBelow).first {
      entries[$0].key == key && !entries[$0].isAnswered && entries[$0].returnedBecause == nil
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

  /// What was answered since the last call, each message once.
  mutating func takeAnswers() -> [PublishAnswer] {
    defer { answers = [] }
    return answers
  }

  /// Tags outside of the window are ignored.
  private mutating func answer(_ tag: UInt64, multiple: Bool, _ outcome: (Entry) -> PublishOutcome)
  {
    guard tag >= firstTag, tag < firstTag + UInt64(entries.count) else { return }
    let last = Int(tag - firstTag)
    for place in multiple ? answeredBelow...max(last, answeredBelow) : last...last
    where place <= last && !entries[place].isAnswered {
      entries[place].isAnswered = true
      let entry = entries[place]
      answers.append(PublishAnswer(number: entry.number, outcome: outcome(entry)))
      outstanding -= 1
    }
    while answeredBelow < entries.count, entries[answeredBelow].isAnswered { answeredBelow += 1 }
    guard answeredBelow == entries.count || answeredBelow >= Self.answeredMax else { return }
    firstTag += UInt64(answeredBelow)
    entries.removeFirst(answeredBelow)
    answeredBelow = 0
  }
}

/// One job on its way through a sender.
protocol PlacedSending {
  associatedtype Place: Hashable

  var delivery: Delivery { get }
  /// Where it goes: of two with one place the second waits until the first is settled.
  var place: Place { get }
}

/// The jobs that a sender has in hand: waiting, sent, or decided and not stored yet. Pure.
struct SendingQueue<Sending: PlacedSending, Answer> {
  /// What goes next first.
  private(set) var waiting: [Sending] = []
  /// By request number.
  private var sent: [UInt64: Sending] = [:]
  private var busy: Set<Sending.Place> = []
  private(set) var answered: [(sending: Sending, answer: Answer)] = []
  /// Not to be sent at all.
  private(set) var dropped: [(sending: Sending, disposition: Disposition)] = []
  private var nextNumber: UInt64 = 1

  var count: Int { waiting.count + sent.count + answered.count + dropped.count }
  var hasDecided: Bool { !answered.isEmpty || !dropped.isEmpty }

  mutating func append(_ sending: Sending) { waiting.append(sending) }

  /// Takes out at most `count` that may go now, no two of one place.
  mutating func choose(atMost count: Int) -> [Sending] {
    guard count > 0, !waiting.isEmpty else { return [] }
    var chosen: [Sending] = []
    var places = busy
    waiting = waiting.filter { sending in
      guard chosen.count < count, places.insert(sending.place).inserted else { return true }
      chosen.append(sending)
      return false
    }
    return chosen
  }

  /// Takes out all but the first `count`.
  mutating func takeOut(butFirst count: Int) -> [Sending] {
    let rest = Array(waiting.dropFirst(count))
    waiting.removeLast(rest.count)
    return rest
  }

  /// What was chosen did not go: it comes first again.
  mutating func putBack(_ sendings: [Sending]) { waiting = sendings + waiting }

  /// - Returns: the number of its request.
  mutating func send(_ sending: Sending) -> UInt64 {
    defer { nextNumber += 1 }
    busy.insert(sending.place)
    sent[nextNumber] = sending
    return nextNumber
  }

  /// - Returns: what was sent under this number; nil when nothing is.
  @discardableResult
  mutating func answer(_ number: UInt64, _ answer: Answer) -> Sending? {
    guard let sending = sent.removeValue(forKey: number) else { return nil }
    answered.append((sending, answer))
    return sending
  }

  mutating func drop(_ sending: Sending, _ disposition: Disposition) {
    dropped.append((sending, disposition))
  }

  /// Drops each that waits while a newer one waits for the same place; `isKept`: but for these.
  mutating func dropOutdone(
    by rev: (Sending) -> Int, butFor isKept: (Sending) -> Bool = { _ in false }
  ) {
    let newest = Dictionary(waiting.map { ($0.place, rev($0)) }, uniquingKeysWith: max)
    guard newest.count < waiting.count else { return }
    var kept: [Sending] = []
    for sending in waiting {
      if let newest = newest[sending.place], newest > rev(sending), !isKept(sending) {
        drop(sending, .superseded(because: "rev \(newest) waits beside \(rev(sending))"))
      } else {
        kept.append(sending)
      }
    }
    waiting = kept
  }

  /// What was decided is stored. `again`: of these, what goes out once more, first.
  mutating func settled(again: [Sending]) {
    for (sending, _) in answered { busy.remove(sending.place) }
    answered = []
    dropped = []
    putBack(again)
  }

  /// Forgets what has not gone out; what was sent is still to be settled.
  ///
  /// - Returns: its deliveries.
  @discardableResult
  mutating func giveUp() -> [Delivery] {
    defer {
      waiting = []
      dropped = []
    }
    return waiting.map(\.delivery) + dropped.map(\.sending.delivery)
  }
}

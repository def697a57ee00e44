import Activities
import Foundation
import Pipeline
import ServiceRuntime
import Vocabulary

/// Publishes a recording at its pace, in windows with confirms. Owned by one thread.
final class Player {
  /// Events published in one window.
  static let window = 500
  /// Events that are due within it go together.
  private static let gathering: Duration = .milliseconds(2)
  /// The wait before what the broker refused is offered again.
  private static let refusedWait: Duration = .milliseconds(200)

  struct Position: Hashable {
    /// Events of the file that are behind us: played, or passed over on `--resume-from`.
    var played = 0
    /// Events confirmed in this run.
    var confirmed = 0
  }

  private let pace: Pace
  private let names: RunNames
  private let contracts: ContractCatalog
  private let publisher: any Publisher
  private let exchange: String
  private let book: RunBook
  private let time: any TimeSource
  private let log: Log
  private let onProgress: (Position) -> Void
  private(set) var position = Position()
  private var waiting: [PlayedEvent] = []
  private var begun: Duration = .zero
  private var firstAt: UnixTime?
  private var backoff = Backoff()

  init(
    pace: Pace, names: RunNames, contracts: ContractCatalog, publisher: any Publisher,
    exchange: String, book: RunBook, time: any TimeSource, log: Log,
    onProgress: @escaping (Position) -> Void
  ) {
    self.pace = pace
    self.names = names
    self.contracts = contracts
    self.publisher = publisher
    self.exchange = exchange
    self.book = book
    self.time = time
    self.log = log
    self.onProgress = onProgress
  }

  /// Plays until the file's end or until `stop` is raised; everything published is confirmed then.
  /// A broker that goes away is waited for. `limit`: no longer than that.
  ///
  /// - Throws: ``RecordingUnreadable``.
  func play(
    _ reader: consuming RecordingReader, from place: Int, atMost limit: Duration?,
    until stop: StopSignal
  ) throws(RecordingUnreadable) {
    begun = time.elapsed()
    var count = 0
    while !stop.isRaised, let line = try reader.next() {
      guard case .event(let event) = line, event.isPlayed(with: contracts) else { continue }
      guard position.played >= place else {
        position.played += 1
        continue
      }
      let first = firstAt ?? event.at
      firstAt = first
      let due = pace.due(count, offset: event.at - first)
      if let limit, due > limit || time.elapsed() - begun > limit { break }
      guard wait(for: due, until: stop) else { break }
      count += 1
      if let played = names.played(event, at: time.now(), contracts: contracts) {
        waiting.append(played)
      }
      position.played += 1
      if waiting.count >= Self.window { publish(until: stop) }
    }
    publish(until: stop)
  }

  /// - Returns: false when it is not to be played any more.
  private func wait(for due: Duration, until stop: StopSignal) -> Bool {
    var left = due - (time.elapsed() - begun)
    if left > Self.gathering, !waiting.isEmpty { publish(until: stop) }
    left = due - (time.elapsed() - begun)
    while left > Self.gathering {
      guard !stop.wait(atMost: min(left, .seconds(1))) else { return false }
      keepAlive()
      onProgress(position)
      left = due - (time.elapsed() - begun)
    }
    return !stop.isRaised
  }

  private func keepAlive() {
    do throws(BrokerLost) {
      try publisher.open()
      try publisher.keepAlive()
    } catch {
      log.warning("broker is away", ["because": error.reason])
    }
  }

  /// Tries until everything that waits is confirmed. After a stop a broker that is away is given
  /// up; what it may not have is not counted as played.
  private func publish(until stop: StopSignal) {
    book.offered(waiting)
    while !waiting.isEmpty {
      do throws(BrokerLost) {
        try publisher.open()
        let outcomes = try publisher.publish(
          waiting.map {
            OutgoingMessage(exchange: exchange, routingKey: $0.routingKey, message: $0.message)
          })
        settle(outcomes, until: stop)
        backoff.reset()
      } catch {
        log.warning("broker is away", ["because": error.reason])
        let count = waiting.count
        book.change { $0.republished += count }
        if stop.isRaised { return giveUp() }
        stop.wait(atMost: backoff.next())
      }
    }
  }

  private func settle(_ outcomes: [PublishOutcome], until stop: StopSignal) {
    let now = time.now()
    let left = zip(waiting, outcomes).filter { $1 != .confirmed }.map(\.0)
    let confirmed = waiting.count - left.count
    book.accepted(confirmed, at: now)
    position.confirmed += confirmed
    waiting = left
    onProgress(position)
    guard !left.isEmpty else { return }
    book.change { $0.refused += left.count }
    if stop.isRaised { giveUp() } else { stop.wait(atMost: Self.refusedWait) }
  }

  /// A full queue has other consumers that may have taken it: the resume point lies before it.
  private func giveUp() {
    position.played -= waiting.count
    let given = waiting
    book.change { pages in
      for offer in given.compactMap(\.offer) { pages.ledger.withdrew(offer) }
    }
    waiting = []
  }
}

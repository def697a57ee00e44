import Foundation
import Pipeline
import ServiceRuntime
import Synchronization
import Vocabulary

/// Reads the simulator's log of pushes into the book while a run goes on, and lets the apps of
/// those who began a session start their cards. One thread runs it.
final class PushWatch: Sendable {
  private static let looking: Duration = .milliseconds(200)
  private static let page = 2000
  /// How often the phones are asked what they have still to say.
  private static let counting: Duration = .seconds(1)
  /// Under which the report shows it, among the queues.
  private static let callsName = "phones' calls to the API"

  private let simulatorURL: String
  private let names: RunNames
  private let book: RunBook
  private let log: Log
  private let place: Mutex<Int>
  private let newestAt: Mutex<Duration>
  private let time: any TimeSource

  /// `after`: the number of the newest push before the run.
  init(
    simulatorURL: String, after number: Int, names: RunNames, book: RunBook,
    time: any TimeSource, log: Log
  ) {
    self.simulatorURL = simulatorURL
    self.names = names
    self.book = book
    self.log = log
    self.time = time
    place = Mutex(number)
    newestAt = Mutex(time.elapsed())
  }

  /// How long no push has come.
  var quiet: Duration { time.elapsed() - newestAt.withLock { $0 } }

  func run(until stop: StopSignal) {
    let control = SimulatorControl(url: simulatorURL)
    var countedAt: Duration = .zero
    while !stop.isRaised {
      do {
        if time.elapsed() - countedAt >= Self.counting {
          countedAt = time.elapsed()
          note(try control.tally().callsWaiting)
        }
        if try !look(control) { stop.wait(atMost: Self.looking) }
      } catch {
        log.warning("the simulator does not answer", ["because": "\(error)"])
        stop.wait(atMost: .seconds(1))
      }
    }
  }

  /// - Returns: whether there may be more at once.
  private func look(_ control: SimulatorControl) throws -> Bool {
    let after = place.withLock { $0 }
    let pushes = try control.pushes(after: after, atMost: Self.page)
    guard let first = pushes.first, let last = pushes.last else { return false }
    if first.number > after + 1 { book.change { $0.pushesMissed += first.number - after - 1 } }
    place.withLock { $0 = last.number }
    newestAt.withLock { $0 = time.elapsed() }
    let starting = pushes.compactMap { push in sighting(push).flatMap { book.saw($0) } }
    for (user, card) in starting {
      do {
        try control.start(card, on: user.text)
      } catch {
        // The ledger finds that the card is missing.
        log.warning("a phone did not start its card", ["because": "\(error)"])
      }
    }
    return pushes.count == Self.page
  }

  /// A card whose token waits here gets nothing, however fast the senders are.
  private func note(_ calls: Int) {
    let second = book.seconds(time.now())
    book.change { pages in
      pages.depths.change(at: second, empty: [:]) { slot in
        slot[Self.callsName] = max(slot[Self.callsName] ?? 0, calls)
      }
    }
  }

  private func sighting(_ push: SimulatorControl.Push) -> Ledger.Sighting? {
    guard push.isTaken, let user = push.phone.flatMap(names.user(ofPhone:)),
      let session = push.session, push.rev != nil || push.state != nil,
      let kind = push.event.flatMap(Ledger.Sighting.Kind.init(rawValue:))
    else { return nil }
    return Ledger.Sighting(
      session: SimulatorControl.subject(session), user: user, kind: kind, rev: push.rev ?? 0,
      state: push.state, at: push.at, apnsID: push.apnsID)
  }
}

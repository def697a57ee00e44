import Foundation
import HTTPClient
import ServiceRuntime
import Synchronization
import Vocabulary

/// Lets the bells of phones and browsers look at `GET /api/notifications`, each with the ETag of
/// its last look, on a thread of its own.
package final class InboxLine: Sendable {
  package enum Owner: Hashable, Sendable {
    case phone(String)
    case browser(String)
  }

  /// How often each bell looks.
  package static let interval = Duration.milliseconds(300)
  /// How many bells there are at most: they are for people who watch.
  package static let bellsMax = 100
  /// For one look, connecting included.
  package static let timeout = Duration.seconds(5)
  /// How many notifications a bell shows.
  package static let entriesMax = 20

  private struct BellState {
    let owner: Owner
    let account: PhoneLine.Account
    var etag: String?
  }

  private struct State {
    var bells: [BellState] = []
    var counts = Counts()
  }

  /// What the API answered.
  package struct Counts: Hashable, Sendable, Codable {
    package var changed = 0
    package var unchanged = 0
    package var failed = 0
  }

  private let state = Mutex(State())
  private let caFile: String?
  private let log: Log

  init(caFile: String?, log: Log) {
    self.caFile = caFile
    self.log = log
  }

  package var counts: Counts { state.withLock { $0.counts } }

  /// - Throws: ``SettingsError`` when there are too many.
  func watch(_ owner: Owner, as account: PhoneLine.Account) throws(SettingsError) {
    let isTaken = state.withLock { state in
      guard state.bells.count < Self.bellsMax else { return false }
      state.bells.append(BellState(owner: owner, account: account))
      return true
    }
    guard isTaken else {
      throw SettingsError(["bell: there are \(Self.bellsMax), want no more"])
    }
  }

  /// Looks until `stop` is raised; `changed` is told of what is new.
  func run(until stop: StopSignal, changed: (Owner, Inbox) -> Void) {
    let client = HTTPClient(timeout: Self.timeout, caFile: caFile)
    while !stop.isRaised {
      let bells = state.withLock { $0.bells }
      for (place, bell) in bells.enumerated() where !stop.isRaised {
        look(bell, at: place, with: client, changed: changed)
      }
      stop.wait(atMost: Self.interval)
    }
  }

  private func look(
    _ bell: BellState, at place: Int, with client: HTTPClient, changed: (Owner, Inbox) -> Void
  ) {
    var headers = ["authorization": "Bearer \(bell.account.bearer)"]
    if let etag = bell.etag { headers["if-none-match"] = etag }
    do {
      let answer = try client.send(
        "GET", "\(bell.account.apiURL)/api/notifications?limit=\(Self.entriesMax)",
        headers: headers)
      switch answer.status {
      case 304: state.withLock { $0.counts.unchanged += 1 }
      case 200:
        let inbox = try JSON.decode(Inbox.self, from: answer.body)
        state.withLock { state in
          state.counts.changed += 1
          state.bells[place].etag = answer.headers["etag"]
        }
        changed(bell.owner, inbox)
      default: throw DeskError(detail: "the API answered \(answer.status)")
      }
    } catch {
      // While the API is away a bell shows what it showed.
      state.withLock { $0.counts.failed += 1 }
      log.debug("inbox.not_seen", ["because": "\(error)"])
    }
  }
}

import CLinux
import Foundation
import Glibc
import HTTPClient
import ServiceRuntime
import Synchronization
import Vocabulary

/// Makes the phones' calls to the Lockstep API, by a few callers at once, and keeps trying while
/// the API is away: a token that was not registered would be a card that never changes.
///
/// Each caller is a thread with a queue of its own, and a phone's calls are all made by one of
/// them, so that they keep their order.
package final class PhoneLine: Sendable {
  /// Where a phone's app calls, and as whom.
  package struct Account: Hashable, Sendable {
    /// Without a slash at the end.
    package let apiURL: String
    /// The JSON web token of its user.
    package let bearer: String

    package init(apiURL: String, bearer: String) {
      self.apiURL = apiURL
      self.bearer = bearer
    }

    /// Slashes at the end of the URL are left out.
    init(trimming url: String, bearer: String) {
      let end = url.lastIndex { $0 != "/" }
      self.init(apiURL: String(end.map { url[...$0] } ?? ""), bearer: bearer)
    }
  }

  /// For one call, connecting included.
  package static let timeout = Duration.seconds(10)

  /// How many calls are made at once at most.
  package static let callersCount = 4

  private struct State {
    var queues = Array(repeating: CallQueue(), count: PhoneLine.callersCount)
    var accounts: [String: Account] = [:]
    var inHand = 0
  }

  private let state = Mutex(State())
  /// One per caller.
  private let wakes: [Int32]
  private let caFile: String?
  private let log: Log
  private let elapsed: @Sendable () -> Duration

  init(
    caFile: String?, log: Log, elapsed: @escaping @Sendable () -> Duration
  ) {
    self.caFile = caFile
    self.log = log
    self.elapsed = elapsed
    wakes = (0..<Self.callersCount).map { _ in eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) }
    precondition(wakes.allSatisfy { $0 >= 0 }, "no descriptor left for the phones' line")
  }

  deinit { for wake in wakes { close(wake) } }

  /// How many calls have not been heard yet.
  package var waiting: Int {
    state.withLock { state in state.queues.reduce(state.inHand) { $0 + $1.count } }
  }

  /// Who calls for a phone, from 0.
  static func caller(of phoneID: String) -> Int {
    // Not the hash of the standard library, so that a run is like another.
    Int(phoneID.utf8.reduce(UInt32(5381)) { $0 &* 33 &+ UInt32($1) } % UInt32(callersCount))
  }

  func connect(_ phoneID: String, as account: Account) {
    state.withLock { $0.accounts[phoneID] = account }
  }

  func account(of phoneID: String) -> Account? { state.withLock { $0.accounts[phoneID] } }

  /// - Returns: how many found no room.
  func enqueue(_ effects: [OwnedEffect]) -> Int {
    guard !effects.isEmpty else { return 0 }
    let callers = effects.map { Self.caller(of: $0.phoneID) }
    let lost = state.withLock { state in
      zip(callers, effects).reduce(0) { $0 + (state.queues[$1.0].add($1.1) ? 0 : 1) }
    }
    for caller in Set(callers) {
      var one: UInt64 = 1
      // A full counter is readable all the same.
      _ = Glibc.write(wakes[caller], &one, 8)
    }
    return lost
  }

  /// Makes the calls of one caller until `stop` is raised; what still waits then is dropped.
  /// `refused` is told of a call that the API refused for good.
  func run(
    caller: Int, until stop: StopSignal, refused: (_ phoneID: String, _ detail: String) -> Void
  ) {
    let wake = wakes[caller]
    let client = HTTPClient(timeout: Self.timeout, caFile: caFile)
    while !stop.isRaised {
      let now = elapsed()
      let next = state.withLock { state in
        let next = state.queues[caller].next(at: now)
        if case .call = next { state.inHand += 1 }
        return next
      }
      switch next {
      case .call(let entry):
        let failed = !make(entry, with: client, refused: refused)
        state.withLock { state in
          if failed { state.queues[caller].putBack(entry, at: elapsed()) }
          state.inHand -= 1
        }
      case .wait(let limit):
        Poll.wait(
          [(stop.descriptor, Poll.readable), (wake, Poll.readable)], atMost: limit ?? .seconds(60))
        var count: UInt64 = 0
        _ = Glibc.read(wake, &count, 8)
      }
    }
  }

  /// - Returns: false when it should be tried again.
  private func make(
    _ entry: CallQueue.Entry, with client: HTTPClient, refused: (String, String) -> Void
  ) -> Bool {
    guard let account = account(of: entry.effect.phoneID) else { return true }
    switch Self.attempt(entry.effect.call, as: account, with: client) {
    case .heard: return true
    case .refused(let detail):
      refused(entry.effect.phoneID, detail)
      return true
    case .unheard(let detail):
      if entry.failures == 0 { log.debug("phone.call_waits", ["because": detail]) }
      return false
    }
  }

  enum Attempt: Hashable, Sendable {
    case heard
    /// For good: the same call would be refused again.
    case refused(String)
    case unheard(String)
  }

  static func attempt(_ call: PhoneCall, as account: Account, with client: HTTPClient) -> Attempt {
    do {
      let answer = try client.send(
        call.method, account.apiURL + call.path,
        headers: [
          "authorization": "Bearer \(account.bearer)", "content-type": "application/json",
        ], body: call.body.encoded)
      switch answer.status {
      case 200..<300: return .heard
      case 408, 409, 425, 429, 500...: return .unheard("\(call.path) answered \(answer.status)")
      default:
        let detail = answer.text.prefix(200)
        return .refused("\(call.method) \(call.path) answered \(answer.status): \(detail)")
      }
    } catch {
      return .unheard("\(error)")
    }
  }
}

import ActivityContracts
import Foundation
import ServiceRuntime
import Synchronization
import Vocabulary

/// A run without all its phones would call lost what nobody could have got.
package struct PhonesRefused: Error, Hashable, CustomStringConvertible {
  package let refused: Int
  package let wanted: Int
  /// Why the first one was refused.
  package let refusal: String
  package let run: String

  package var description: String {
    "\(refused) of \(wanted) phones could not be made, so nothing was played: \(refusal). Phones "
      + "of runs that were not played to their end stay: DELETE /phones?user_prefix="
      + "\(RunNames.userPrefix) takes all of them from the simulator"
  }
}

/// Makes the virtual phones of a run before it begins: each registers its tokens through the API.
package struct PhoneMaking: Sendable {
  /// Phones made at the same time: the API takes writes one after the other anyway.
  static let threads = 4

  package struct Report: Hashable, Sendable {
    package var made = 0
    /// Those whose tokens the API has not heard yet; the simulator tries on.
    package var unregistered = 0
    package var refused = 0
    /// Why the first one was refused.
    package var refusal: String?
  }

  let simulatorURL: String
  let apiURL: String
  let names: RunNames
  /// Mints a token that the API takes, for a user.
  let token: @Sendable (UserID) -> String

  package init(
    simulatorURL: String, apiURL: String, names: RunNames,
    token: @escaping @Sendable (UserID) -> String
  ) {
    self.simulatorURL = simulatorURL
    self.apiURL = apiURL
    self.names = names
    self.token = token
  }

  private struct State {
    var next = 0
    var report = Report()
  }

  /// Blocks until all are made, or `stop` is raised. `onProgress`: told how many are done.
  package func make(_ phones: [RecordedPhone], until stop: StopSignal, onProgress: (Int) -> Void)
    -> Report
  {
    let state = SharedState()
    let making = self
    let threads = (0..<min(Self.threads, max(1, phones.count))).map { number in
      OwnedThread.start(named: "phones-\(number)") {
        let control = SimulatorControl(url: making.simulatorURL)
        while !stop.isRaised, let phone = state.take(phones) {
          making.make(phone, with: control, state)
        }
      }
    }
    while threads.contains(where: { !$0.hasEnded }) {
      Poll.wait([], atMost: .milliseconds(100))
      onProgress(state.report.made)
    }
    return state.report
  }

  private final class SharedState: Sendable {
    private let state = Mutex(State())

    var report: Report { state.withLock { $0.report } }

    func take(_ phones: [RecordedPhone]) -> RecordedPhone? {
      state.withLock { state in
        guard state.next < phones.count else { return nil }
        state.next += 1
        return phones[state.next - 1]
      }
    }

    func note(_ body: (inout Report) -> Void) { state.withLock { body(&$0.report) } }
  }

  private func make(_ phone: RecordedPhone, with control: SimulatorControl, _ state: SharedState) {
    let user = names.user(phone.user)
    let id = names.phone(of: user, app: phone.app)
    var order: [String: JSONValue] = [
      "id": .string(id), "user_id": .string(user.text), "token": .string(token(user)),
      "api_url": .string(apiURL), "kinds": .array(phone.tokens.map { .string($0) }),
      "attributes_type": .string(phone.app),
    ]
    // A profile is told only where it matters: without a locale everything reads German.
    if let locale = phone.locale {
      order["name"] = .string(phone.user.text)
      order["locale"] = .string(locale)
    }
    do {
      let isRegistered = try control.addPhone(.object(order), id: id)
      state.note {
        $0.made += 1
        if !isRegistered { $0.unregistered += 1 }
      }
    } catch {
      state.note {
        $0.refused += 1
        $0.refusal = $0.refusal ?? "\(error)"
      }
    }
  }
}

import Foundation
import HTTP2
import HTTPServing
import ServiceRuntime
import Synchronization
import TestSupport
import Testing
import Vocabulary

@testable import Simulator

@Suite struct PhoneLineTests {
  /// An API that holds every call until as many are there as callers.
  private final class SlowAPI: Sendable {
    struct State {
      var inHand: [String] = []
      var largest = 0
      /// Phone and token, in the order they came.
      var calls: [(phone: String, token: String)] = []
      var overlaps: [String] = []
    }

    let state = Mutex(State())

    func answer(_ request: HTTPRequest) -> HTTPResponse {
      let phone = String(request.header("authorization")?.dropFirst("Bearer ".count) ?? "")
      let token = (try? JSONValue(parsing: request.body))?["token"] ?? .null
      state.withLock { state in
        if state.inHand.contains(phone) { state.overlaps.append(phone) }
        state.inHand.append(phone)
        state.largest = max(state.largest, state.inHand.count)
        if case .string(let text) = token { state.calls.append((phone, text)) }
      }
      _ = becomesTrue(within: .seconds(20)) {
        state.withLock { $0.largest >= PhoneLine.callersCount }
      }
      state.withLock { state in
        if let index = state.inHand.firstIndex(of: phone) { state.inHand.remove(at: index) }
      }
      return .json(200, [:] as JSONValue)
    }
  }

  @Test func `phones call at once, and each phone's calls keep their order`() throws {
    let api = SlowAPI()
    let server = try HTTPServer(
      address: ListenAddress(host: "127.0.0.1", port: 0), threading: .perConnection,
      log: .discarding, handler: api.answer)
    defer { server.stop() }
    let line = PhoneLine(caFile: nil, log: .discarding, elapsed: monotonicTime)
    let phones = (0..<PhoneLine.callersCount).compactMap { caller in
      (0..<100).map { "phone-\($0)" }.first { PhoneLine.caller(of: $0) == caller }
    }
    try #require(phones.count == PhoneLine.callersCount, "every caller has phones")
    for phone in phones {
      line.connect(
        phone, as: PhoneLine.Account(apiURL: "http://127.0.0.1:\(server.port)", bearer: phone))
    }
    let tokens = (0..<20).map { "token-\($0)" }
    let lost = line.enqueue(
      tokens.flatMap { token in
        phones.map { phone in
          OwnedEffect(
            phoneID: phone,
            call: PhoneCall(path: "/api/apns/register", body: ["token": .string(token)]))
        }
      })
    #expect(lost == 0)
    #expect(line.waiting == tokens.count * phones.count)
    let stop = StopSignal()
    let threads = (0..<PhoneLine.callersCount).map { caller in
      OwnedThread.start(named: "phone-line-\(caller)") {
        line.run(caller: caller, until: stop) { _, _ in }
      }
    }
    #expect(becomesTrue(within: .seconds(60)) { line.waiting == 0 })
    stop.raise()
    #expect(becomesTrue(within: .seconds(20)) { threads.allSatisfy(\.hasEnded) })
    let seen = api.state.withLock { $0 }
    #expect(seen.largest == PhoneLine.callersCount)
    #expect(seen.overlaps == [])
    for phone in phones {
      #expect(seen.calls.filter { $0.phone == phone }.map(\.token) == tokens)
    }
  }
}

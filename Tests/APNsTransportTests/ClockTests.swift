import APNsTransport
import Foundation
import HTTP2
import Pipeline
import Pushes
import ServiceRuntime
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// The sender's wall clock is wrong, or is set while it runs; APNs' clock is right, and judges each
/// provider token by its `iat`.
@Suite struct ClockTests {
  /// Every token that was signed: its `iat`, and when by the steady clock.
  private final class Signed: Sendable {
    private let all = Mutex<[(issuedAt: UnixTime, madeAt: Duration)]>([])
    var madeAt: [Duration] { all.withLock { $0.map(\.madeAt) } }

    func tokens(_ time: ManualTime) -> ProviderTokens {
      let signer = ProviderTokenSigner(keyID: "ABC1234567") { issuedAt in
        self.all.withLock {
          $0.append((issuedAt, time.elapsed()))
          return "\(issuedAt.seconds) \($0.count)"
        }
      }
      return ProviderTokens(signer: signer, time: time, log: .discarding, metrics: Metrics())
    }
  }

  private func httpDate(_ moment: UnixTime) -> String {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "GMT")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return format.string(from: Date(timeIntervalSince1970: Double(moment.seconds)))
  }

  /// Apple: none older than an hour; some seconds ahead are borne.
  private func apns(_ truth: ManualTime) throws -> StandIn {
    try StandIn { request, _ in
      let words = (request.header("authorization") ?? "").split(separator: " ")
      let issuedAt = UnixTime(seconds: Int64(words[1]) ?? 0)
      let headers = [("date", httpDate(truth.now()))]
      let age = truth.now() - issuedAt
      guard age <= .seconds(3600), age >= .seconds(-300) else {
        return .respond(
          HTTP2Response(
            status: 403, headers: headers, body: Data(#"{"reason":"ExpiredProviderToken"}"#.utf8)))
      }
      return .respond(HTTP2Response(status: 200, headers: headers))
    }
  }

  /// Lets `minutes` pass on both clocks, a quarter of a minute at a time, as far as pushes are
  /// answered in between.
  private func pass(
    _ minutes: Int, _ sending: SenderOverHTTP2, _ time: ManualTime, _ truth: ManualTime
  ) throws {
    for _ in 0..<(minutes * 4) {
      time.advance(by: .seconds(15))
      truth.advance(by: .seconds(15))
      try sending.turn(atMost: .seconds(20)) { sending.transport.inFlight == 0 }
      // What that made necessary goes out, and is answered.
      try sending.turn(atMost: .milliseconds(2)) { false }
      try sending.turn(atMost: .seconds(20)) { sending.transport.inFlight == 0 }
    }
  }

  /// No more than Apple allows: one in twenty minutes, but for one early one after a regular one.
  private func expectNoMintLoop(_ signed: Signed) {
    let made = signed.madeAt
    let early = zip(made, made.dropFirst()).filter { $1 - $0 < .seconds(20 * 60) }
    #expect(early.count <= 1, "\(made.map { Int($0 / .seconds(60)) }) minutes")
    #expect(zip(early, early.dropFirst()).allSatisfy { $1.0 - $0.1 >= .seconds(20 * 60) })
  }

  @Test(arguments: [(2, "ahead of"), (-2, "behind")])
  func `C-3 with a clock two hours off the alarm names the skew, and no mint loop begins`(
    hours: Int, word: String
  ) throws {
    let (time, truth, signed) = (ManualTime(), ManualTime(), Signed())
    time.step(by: .seconds(hours * 3600))
    let apns = try apns(truth)
    let sending = try SenderOverHTTP2(apns, time: time, tokens: signed.tokens(time))
    try sending.take([sending.job(1), sending.job(2)])
    try pass(90, sending, time, truth)
    #expect(sending.ended.isEmpty)
    let alarms = sending.lines.all.filter { $0.contains("lane open") }
    #expect(alarms.count == 1, "one, however long it lasts")
    #expect(alarms.first?.contains("our clock is 2 h 0 min \(word) APNs'") == true)
    expectNoMintLoop(signed)
    // Somebody sets the clock right; the sender is not restarted.
    time.step(by: .seconds(-hours * 3600))
    try pass(21, sending, time, truth)
    #expect(sending.ended.count == 2)
    #expect(sending.ended.values.allSatisfy { $0 == .done })
    expectNoMintLoop(signed)
  }

  @Test(arguments: [2, -2])
  func `C-3 a clock that is set by two hours and set right again loses no push`(
    hours: Int
  ) throws {
    let (time, truth, signed) = (ManualTime(), ManualTime(), Signed())
    let apns = try apns(truth)
    let sending = try SenderOverHTTP2(apns, time: time, tokens: signed.tokens(time))
    try sending.take([sending.job(1)])
    try pass(1, sending, time, truth)
    #expect(sending.ended.count == 1)
    time.step(by: .seconds(hours * 3600))
    // The token was issued by the right clock, and serves on.
    try sending.take([sending.job(2)])
    try pass(1, sending, time, truth)
    #expect(sending.ended.count == 2)
    // Its successor is not: at fifty minutes the wrong clock is noticed.
    for number in 3...8 {
      try sending.take([sending.job(number)])
      try pass(10, sending, time, truth)
    }
    let alarms = sending.lines.all.filter { $0.contains("lane open") }
    #expect(alarms.count == 1)
    #expect(alarms.allSatisfy { $0.contains("our clock is 2 h 0 min") })
    time.step(by: .seconds(-hours * 3600))
    try pass(21, sending, time, truth)
    #expect(sending.ended.count == 8)
    #expect(sending.ended.values.allSatisfy { $0 == .done })
    expectNoMintLoop(signed)
  }
}

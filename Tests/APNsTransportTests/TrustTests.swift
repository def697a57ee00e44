import APNsTransport
import Foundation
import HTTP2
import Pipeline
import Pushes
import ServiceRuntime
import Testing

@Suite struct TrustTests {
  private func push(
    to apns: StandIn, host: String = "127.0.0.1", authorityFile: String? = nil
  ) throws -> PushOutcome? {
    var settings = try apns.settings(host: host)
    if let authorityFile { settings.authorityFile = authorityFile }
    settings.requestTimeout = .milliseconds(700)
    let transport = try APNsTransport(
      settings: settings, tokens: StandIn.tokens(), time: SystemTime(), log: .discarding,
      metrics: Metrics())
    transport.send(request(1))
    #expect(apns.drive(transport) { apns.outcomes.count == 1 })
    return apns.outcomes[1]
  }

  private func expectRefused(_ outcome: PushOutcome?, because part: String) {
    guard case .neverProcessed(let reason) = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect(reason.contains(part))
  }

  @Test func `a certificate of another authority is refused`() throws {
    let apns = try StandIn()
    let other = try StandIn()
    let outcome = try push(to: apns, authorityFile: other.authority.authorityFile)
    expectRefused(outcome, because: "certificate")
    #expect(apns.record.seen.isEmpty)
  }

  @Test func `a certificate for another name is refused`() throws {
    let apns = try StandIn(names: ["api.push.example"])
    expectRefused(try push(to: apns, host: "localhost"), because: "hostname mismatch")
    #expect(apns.record.seen.isEmpty)
  }

  @Test func `a certificate for another address is refused`() throws {
    let apns = try StandIn(addresses: ["127.0.0.2"])
    expectRefused(try push(to: apns), because: "IP address mismatch")
    #expect(apns.record.seen.isEmpty)
  }

  @Test func `the right name is taken`() throws {
    let apns = try StandIn()
    let outcome = try push(to: apns, host: "localhost")
    #expect(outcome == .answered(PushAnswer(status: 200)))
  }

  @Test func `a missing authority file is named`() {
    #expect {
      try APNsTransport(
        settings: APNsTransportSettings(authorityFile: "/nowhere.pem"), tokens: StandIn.tokens(),
        time: SystemTime(), log: .discarding, metrics: Metrics())
    } throws: { "\($0)".contains("/nowhere.pem") }
  }
}

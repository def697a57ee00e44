import APNsTransport
import Foundation
import HTTP2
import Pipeline
import Pushes
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

/// A key file that is replaced under a sender that runs.
@Suite struct KeySwapTests {
  @Test func `C-8 a key swapped on disk is pushed with within a minute, on new connections`() throws
  {
    let apns = try StandIn()
    let file = apns.directory.appendingPathComponent("AuthKey.p8")
    func put(_ keyID: String) throws {
      // As a configuration manager does it: written beside, then moved over.
      let beside = apns.directory.appendingPathComponent("new.p8")
      try Data(keyID.utf8).write(to: beside)
      guard rename(beside.path, file.path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }
    try put("FIRST")
    let time = ManualTime()
    let tokens = try ProviderTokens(
      keyFile: file.path, time: time, log: .discarding, metrics: Metrics()
    ) { content in
      ProviderTokenSigner(keyID: content.text) { _ in content.text }
    }
    let transport = try apns.transport(time: time, tokens: tokens)
    #expect(apns.push(requests(40), through: transport))
    try put("SECOND")
    time.advance(by: KeyFile.lookInterval)
    #expect(apns.push(requests(40, from: 100), through: transport))
    #expect(apns.statuses == [200: 80])
    let used = Dictionary(grouping: apns.record.seen.map(\.request), by: \.connection)
      .mapValues { Set($0.map { $0.header("authorization") ?? "" }) }
    #expect(used.values.allSatisfy { $0.count == 1 }, "one key on one connection")
    let later = apns.record.seen.map(\.request).suffix(40)
    #expect(Set(later.map { $0.header("authorization") }) == ["bearer SECOND"])
    #expect(apns.drive(transport) { apns.server.openConnections <= 2 }, "the old ones are closed")
  }

  @Test func `a file that is broken for a while leaves the connections and their key alone`() throws
  {
    let apns = try StandIn()
    let file = apns.directory.appendingPathComponent("AuthKey_FIRST.p8")
    try Data("FIRST".utf8).write(to: file)
    let time = ManualTime()
    let tokens = try ProviderTokens(
      keyFile: file.path, time: time, log: .discarding, metrics: Metrics()
    ) { content in
      guard content.text == "FIRST" else { throw APNsTransportError("no key") }
      return ProviderTokenSigner(keyID: "FIRST") { _ in content.text }
    }
    let transport = try apns.transport(time: time, tokens: tokens) {
      $0.connectionsPerEnvironment = 1
    }
    #expect(apns.push(requests(5), through: transport))
    try Data("half a k".utf8).write(to: file)
    for minute in 1...5 {
      time.advance(by: .seconds(60))
      #expect(apns.push([request(UInt64(100 + minute))], through: transport))
    }
    #expect(apns.statuses == [200: 10])
    #expect(apns.server.connectionsTaken == 1)
  }
}

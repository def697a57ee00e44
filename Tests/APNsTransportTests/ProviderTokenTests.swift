import APNsTransport
import Cryptography
import Foundation
import HTTP2
import Pipeline
import Pushes
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

@Suite struct ProviderTokenTests {
  @Test(arguments: [(19, false), (49, false), (50, true), (51, true), (61, true)])
  func `C-2 C-4 a token in use is renewed at fifty minutes`(minutes: Int, isNew: Bool) throws {
    let time = ManualTime()
    let tokens = StandIn.tokens(time: time)
    #expect(try tokens.token().generation == 1)
    time.advance(by: .seconds(minutes * 60))
    #expect(try tokens.token().generation == (isNew ? 2 : 1))
  }

  @Test func `C-10 a storm of expired answers makes one token`() throws {
    let time = ManualTime()
    let tokens = StandIn.tokens(time: time)
    let first = try tokens.token()
    time.advance(by: .seconds(60))
    let answers = (0..<50).map { _ in tokens.expired(generation: first.generation) }
    #expect(answers.allSatisfy { $0 })
    #expect(try tokens.token().generation == 2)
  }

  @Test func `a new token that is called expired at once waits for its twenty minutes`() throws {
    let time = ManualTime()
    let tokens = StandIn.tokens(time: time)
    _ = try tokens.token()
    #expect(tokens.expired(generation: 1))
    time.advance(by: .seconds(20 * 60 - 1))
    #expect(!tokens.expired(generation: 2))
    time.advance(by: .seconds(1))
    #expect(tokens.expired(generation: 2))
    // That one was refused as well: something else is wrong.
    #expect(!tokens.expired(generation: 3))
    time.advance(by: .seconds(50 * 60))
    // One that served its time may again be followed early.
    #expect(try tokens.token().generation == 4)
    #expect(tokens.expired(generation: 4))
    #expect(!tokens.expired(generation: 5))
  }

  @Test(arguments: [3600, -3600])
  func `C-3 a wall clock that was set makes a new token, not before twenty minutes`(seconds: Int)
    throws
  {
    let time = ManualTime()
    let tokens = StandIn.tokens(time: time)
    _ = try tokens.token()
    time.step(by: .seconds(seconds))
    time.advance(by: .seconds(20 * 60 - 1))
    #expect(try tokens.token().generation == 1)
    time.advance(by: .seconds(1))
    #expect(try tokens.token().generation == 2)
    #expect(try tokens.token().generation == 2)
  }

  @Test func `the claims are Apple's`() throws {
    let signer = try ProviderTokenSigner(
      pem: SigningKey.generate().pem, keyID: "ABC1234567", teamID: "DEF1234567")
    let token = try JSONWebToken(try signer.sign(Samples.noon + .milliseconds(900)))
    #expect(token.header["alg"] == "ES256")
    #expect(token.header["kid"] == "ABC1234567")
    #expect(
      try token.claims() == ["iss": "DEF1234567", "iat": .integer(Samples.noon.seconds)])
  }

  @Test func `C-10 fifty parallel 403s end on a new connection, with exactly one new token`() throws
  {
    let apns = try StandIn { request, earlier in
      earlier > 0 && request.header("authorization") == "bearer jwt-1"
        ? .respondAfter(
          .milliseconds(50),
          HTTP2Response(status: 403, body: Data(#"{"reason":"ExpiredProviderToken"}"#.utf8)))
        : StandIn.ok
    }
    let transport = try apns.transport { $0.connectionsPerEnvironment = 1 }
    #expect(apns.push([request(1)], through: transport))
    #expect(apns.push(requests(50, from: 2), through: transport))
    #expect(apns.statuses == [200: 1, 403: 50])
    #expect(apns.push(requests(50, from: 100), through: transport))
    #expect(apns.statuses == [200: 51, 403: 50])
    let last = apns.record.seen.suffix(50).map(\.request)
    #expect(Set(last.map { $0.header("authorization") }) == ["bearer jwt-2"])
    #expect(Set(last.map(\.connection)) == [2])
  }

  @Test func `C-5 an open connection takes the new token at fifty minutes`() throws {
    let apns = try StandIn()
    let time = ManualTime()
    let transport = try apns.transport(time: time)
    for (number, minutes) in [(1, 49), (2, 1), (3, 5), (4, 0)] {
      #expect(apns.push([request(UInt64(number))], through: transport))
      time.advance(by: .seconds(minutes * 60))
    }
    let used = apns.record.seen.map { $0.request.header("authorization") ?? "" }
    #expect(used == ["bearer jwt-1", "bearer jwt-1", "bearer jwt-2", "bearer jwt-2"])
    #expect(apns.server.connectionsTaken == 1)
  }
}

@Suite struct KeyFileTests {
  private let directory: URL

  init() throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("key-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  private func target(_ name: String) -> URL {
    directory.appendingPathComponent("AuthKey_\(name).p8")
  }

  private func tokens(_ file: URL, time: ManualTime) throws -> ProviderTokens {
    try ProviderTokens(
      keyFile: file.path, time: time, log: .discarding, metrics: Metrics()
    ) { content in
      ProviderTokenSigner(keyID: content.keyID ?? "none") { _ in content.text }
    }
  }

  @Test func `a changed link target is picked up within a minute`() throws {
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: directory) } }
    let link = directory.appendingPathComponent("key.p8")
    for name in ["ONE", "TWO"] {
      try Data(name.utf8).write(to: target(name))
    }
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target("ONE"))
    let time = ManualTime()
    let tokens = try tokens(link, time: time)
    let first = try tokens.token()
    #expect(first.keyID == "ONE")
    #expect(first.authorization == "bearer ONE")
    try FileManager.default.removeItem(at: link)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target("TWO"))
    time.advance(by: .seconds(29))
    #expect(try tokens.token() == first)
    time.advance(by: .seconds(1))
    let second = try tokens.token()
    #expect(second.keyID == "TWO")
    #expect(second.generation == 2)
    time.advance(by: .seconds(60))
    #expect(try tokens.token() == second)
  }

  @Test func `a file that is gone leaves the old key`() throws {
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: directory) } }
    let file = directory.appendingPathComponent("AuthKey_ONE.p8")
    try Data("ONE".utf8).write(to: file)
    let time = ManualTime()
    let tokens = try tokens(file, time: time)
    let first = try tokens.token()
    try FileManager.default.removeItem(at: file)
    time.advance(by: .seconds(60))
    #expect(try tokens.token() == first)
    try Data("THREE".utf8).write(to: file)
    time.advance(by: .seconds(30))
    #expect(try tokens.token().authorization == "bearer THREE")
  }

  @Test func `a missing file is named`() {
    defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: directory) } }
    #expect {
      try tokens(directory.appendingPathComponent("none.p8"), time: ManualTime())
    } throws: { "\($0)".contains("none.p8") }
  }
}

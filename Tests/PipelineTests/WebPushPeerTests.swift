import Cryptography
import Foundation
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

/// What we send is read by software that shares nothing with ours: Python's `cryptography` and
/// `jwt`.
@Suite struct WebPushPeerTests {
  /// `Tests/Peers/webpush_browser.py`, spoken to line by line.
  private final class Browser {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init() throws {
      let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent()
      // The system's own: the modules are Debian's.
      process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
      process.arguments = [tests.appending(path: "Peers/webpush_browser.py").path]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
    }

    deinit {
      // Not SIGTERM: the threads that tests run on block it, and a child inherits that.
      kill(process.processIdentifier, SIGKILL)
    }

    func say(_ value: JSONValue) throws {
      try input.fileHandleForWriting.write(contentsOf: value.encoded + Data("\n".utf8))
    }

    /// One line; the peer's last words are in the test's output when there is none.
    func hear() throws -> JSONValue {
      var line = Data()
      while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) {
        line += byte
      }
      guard !line.isEmpty else { throw PeerProblem(description: "the peer ended") }
      return try JSONValue(parsing: line)
    }
  }

  private func text(_ value: JSONValue?) throws -> String {
    guard case .string(let text)? = value else {
      throw PeerProblem(description: "\(String(describing: value)) is no text")
    }
    return text
  }

  private struct PeerProblem: Error, CustomStringConvertible { let description: String }

  private func said(_ request: WebPushRequest, authorization: String? = nil) -> JSONValue {
    [
      "endpoint": .string(request.endpoint.text), "topic": .string(request.topic),
      "authorization": .string(authorization ?? request.authorization),
      "ttl": .integer(request.ttl), "body": .string(Base64URL.encode(request.body)),
    ]
  }

  @Test func `another program decrypts what we send and verifies who sent it`() throws {
    let browser = try Browser()
    let mine = try browser.hear()
    let keys = try WebPushKeys(p256dh: text(mine["p256dh"]), auth: text(mine["auth"]))
    // The peer looks at the real clock.
    let rig = try WebPushRig(at: SystemTime().now())
    let subscription = try rig.subscribe("https://web.push.apple.com/QGu", keys: keys)
    // Among 200 signatures one in about 128 has a number that begins with a zero octet.
    for number in 0..<200 {
      let job = try rig.job(subscription, key: "key \(number)")
      #expect(try rig.push(job) == [.done])
      // Every push gets a token of its own.
      rig.time.step(by: .seconds(61))
      let request = try #require(rig.carrier.requests.last)
      try browser.say(said(request))
      let read = try browser.hear()
      #expect(read["error"] == nil)
      #expect(try Data(text(read["plaintext"]).utf8) == job.payload)
      #expect(read["claims"]?["aud"] == "https://web.push.apple.com")
      #expect(read["claims"]?["sub"] == "mailto:ops@app.example")
    }
    #expect(Set(rig.carrier.requests.map(\.authorization)).count == 200)
  }

  @Test func `the other program would notice a wrong key, origin or octet`() throws {
    let browser = try Browser()
    let mine = try browser.hear()
    let keys = try WebPushKeys(p256dh: text(mine["p256dh"]), auth: text(mine["auth"]))
    let rig = try WebPushRig(at: SystemTime().now())
    let apple = try rig.subscribe("https://web.push.apple.com/QGu", keys: keys)
    let google = try rig.subscribe("https://fcm.googleapis.com/x", keys: keys)
    _ = try rig.push(rig.job(apple), rig.job(google))
    let requests = rig.carrier.requests
    try #require(requests.count == 2)
    try browser.say(said(requests[0], authorization: requests[1].authorization))
    #expect(try text(browser.hear()["error"]).contains("InvalidAudience"))
    let stranger = VAPIDKey(SigningKey.generate()).id
    let token = requests[0].authorization.prefix { $0 != "," }
    try browser.say(said(requests[0], authorization: "\(token), k=\(stranger)"))
    #expect(try text(browser.hear()["error"]).contains("InvalidSignature"))
    var body = requests[0].body
    body[body.count - 1] ^= 1
    guard case .object(var push) = said(requests[0]) else { return }
    push["body"] = .string(Base64URL.encode(body))
    try browser.say(.object(push))
    #expect(try text(browser.hear()["error"]).contains("InvalidTag"))
  }
}

import Cryptography
import FCMTransport
import Foundation
import HTTP2
import HTTPClient
import Pipeline
import Pushes
import ServiceRuntime
import Synchronization
import TestSupport
import Vocabulary

/// The system's clocks, which a test can set forward: libcurl's own deadlines go by the real one.
final class ShiftedTime: TimeSource {
  private let shift = Mutex<Duration>(.zero)

  func now() -> UnixTime { SystemTime().now() + shift.withLock { $0 } }
  func elapsed() -> Duration { SystemTime().elapsed() + shift.withLock { $0 } }
  func advance(by span: Duration) { shift.withLock { $0 += span } }
}

/// Whether a stand-in does wrong; a test heals it.
final class Illness: Sendable {
  private let isIll = Mutex(true)

  var isOn: Bool { isIll.withLock { $0 } }
  func heal() { isIll.withLock { $0 = false } }
}

/// FCM and Google's token endpoint on the loopback, and a transport that sends to them.
final class FCMStandIn {
  final class Record: Sendable {
    private let all = Mutex<[HTTP2Request]>([])
    var seen: [HTTP2Request] { all.withLock { $0 } }
    var tokens: [HTTP2Request] { seen.filter { $0.path == "/token" } }
    var messages: [HTTP2Request] { seen.filter { $0.path != "/token" } }
    func add(_ request: HTTP2Request) { all.withLock { $0.append(request) } }
  }

  typealias Answer = @Sendable (_ nth: Int, HTTP2Request) -> HTTP2Reply

  let directory: URL
  let record = Record()
  let authority: SelfSignedAuthority
  let server: HTTP2Server
  let key = RSASigningKey.generate()
  let time = ShiftedTime()
  private(set) var results: [UInt64: FCMResult] = [:]
  /// Numbers that had more than one result: must stay empty.
  private(set) var doubled: [UInt64] = []

  static let taken = respond(200, ["name": "projects/p/messages/1"])

  static func respond(_ status: Int, _ body: JSONValue, _ headers: [(String, String)] = [])
    -> HTTP2Reply
  {
    .respond(HTTP2Response(status: status, headers: headers, body: body.encoded))
  }

  static func granted(_ nth: Int, life: Int64 = 3600) -> HTTP2Reply {
    respond(
      200,
      [
        "access_token": .string("ya29.\(nth)"), "expires_in": .integer(life),
        "token_type": "Bearer",
      ])
  }

  /// Each closure is told how many requests of its kind came before, from 1.
  init(
    token: @escaping Answer = { nth, _ in granted(nth) },
    message: @escaping Answer = { _, _ in taken }
  ) throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("fcm-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    authority = try SelfSignedAuthority(directory: directory)
    let identity = try authority.issue()
    server = try HTTP2Server(
      certificateFile: identity.certificateFile, keyFile: identity.keyFile
    ) { [record] request in
      record.add(request)
      return request.path == "/token"
        ? token(record.tokens.count, request) : message(record.messages.count, request)
    }
  }

  deinit {
    server.stop()
    do {
      try FileManager.default.removeItem(at: directory)
    } catch {
      print("left behind: \(directory.path): \(error)")
    }
  }

  var url: String { "https://localhost:\(server.port)" }

  func transport(_ change: (inout HTTPTransfers.Settings) -> Void = { _ in }) throws -> FCMTransport
  {
    var settings = HTTPTransfers.Settings()
    settings.authorityFile = authority.authorityFile
    change(&settings)
    return FCMTransport(
      account: try account(tokenURL: "\(url)/token"), url: url, settings: settings, time: time)
  }

  func account(tokenURL: String) throws -> ServiceAccount {
    let json: JSONValue = [
      "project_id": "cook-example", "client_email": "push@cook-example.example",
      "private_key": .string(key.pem), "private_key_id": "key-1", "token_uri": .string(tokenURL),
    ]
    return try ServiceAccount(json: json.encoded)
  }

  func requests(_ numbers: ClosedRange<UInt64>) -> [FCMRequest] {
    numbers.map { FCMRequest(number: $0, body: Data(#"{"message":{"n":\#($0)}}"#.utf8)) }
  }

  /// Sends as there is room, and waits for the result of each.
  ///
  /// - Returns: whether all came within the limit.
  @discardableResult
  func send(
    _ requests: [FCMRequest], through transport: FCMTransport,
    atMost limit: Duration = .seconds(20)
  ) -> Bool {
    var rest = requests[...]
    let wanted = Set(requests.map(\.number))
    let end = monotonicTime() + limit
    while !wanted.isSubset(of: results.keys) {
      guard monotonicTime() < end else { return false }
      while transport.capacity > 0, let next = rest.popFirst() { transport.send(next) }
      for result in transport.advance() {
        if results.updateValue(result, forKey: result.number) != nil {
          doubled.append(result.number)
        }
      }
      Poll.wait(transport.descriptors, atMost: .milliseconds(200))
    }
    return true
  }

  func status(_ number: UInt64) -> Int? {
    if case .answered(let answer)? = results[number]?.outcome { answer.status } else { nil }
  }

  /// Why no answer came.
  func silence(_ number: UInt64) -> String? {
    if case .unanswered(let reason)? = results[number]?.outcome { reason } else { nil }
  }

  func withoutToken(_ number: UInt64) -> NoAccessToken? {
    if case .unauthorized(let none)? = results[number]?.outcome { none } else { nil }
  }
}

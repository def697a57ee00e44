import Foundation
import HTTP2
import Pipeline
import Pushes
import ServiceRuntime
import Synchronization
import TestSupport
import WebPushTransport

/// A push service on the loopback, and a transport that sends to it.
final class PushServiceStandIn {
  final class Record: Sendable {
    private let all = Mutex<[HTTP2Request]>([])
    var seen: [HTTP2Request] { all.withLock { $0 } }
    func add(_ request: HTTP2Request) { all.withLock { $0.append(request) } }
  }

  let directory: URL
  let record = Record()
  let authority: SelfSignedAuthority
  let server: HTTP2Server
  private(set) var outcomes: [UInt64: WebPushOutcome] = [:]
  /// Numbers that had more than one result: must stay empty.
  private(set) var doubled: [UInt64] = []

  static let taken = HTTP2Reply.respond(HTTP2Response(status: 201))

  init(answer: @escaping @Sendable (HTTP2Request) -> HTTP2Reply = { _ in taken }) throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("webpush-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    authority = try SelfSignedAuthority(directory: directory)
    let identity = try authority.issue()
    server = try HTTP2Server(
      certificateFile: identity.certificateFile, keyFile: identity.keyFile
    ) { [record] request in
      record.add(request)
      return answer(request)
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

  func transport(_ change: (inout WebPushTransportSettings) -> Void = { _ in }) -> WebPushTransport
  {
    var settings = WebPushTransportSettings()
    settings.authorityFile = authority.authorityFile
    change(&settings)
    return WebPushTransport(settings: settings, time: SystemTime())
  }

  func request(
    _ number: UInt64, host: String = "localhost", path: String = "/send", lifts: Bool = true,
    body: Data = Data([0, 1, 2, 255])
  ) throws -> WebPushRequest {
    WebPushRequest(
      number: number, endpoint: try PushEndpoint("https://\(host):\(server.port)\(path)"),
      liftsAddressRule: lifts, authorization: "vapid t=a.b.c, k=d", ttl: 7200,
      topic: WebPushTopic.of("key"), body: body)
  }

  /// Sends as there is room, and waits for the result of each.
  ///
  /// - Returns: whether all came within the limit.
  @discardableResult
  func push(
    _ requests: [WebPushRequest], through transport: WebPushTransport,
    atMost limit: Duration = .seconds(20)
  ) -> Bool {
    var rest = requests[...]
    let wanted = outcomes.count + requests.count
    let end = monotonicTime() + limit
    while outcomes.count < wanted {
      guard monotonicTime() < end else { return false }
      while transport.capacity > 0, let next = rest.popFirst() { transport.send(next) }
      for result in transport.advance() {
        if outcomes.updateValue(result.outcome, forKey: result.number) != nil {
          doubled.append(result.number)
        }
      }
      Poll.wait(transport.descriptors, atMost: .milliseconds(500))
    }
    return true
  }

  func answer(_ number: UInt64) -> WebPushAnswer? {
    if case .answered(let answer)? = outcomes[number] { answer } else { nil }
  }

  func reason(_ number: UInt64) -> String? {
    switch outcomes[number] {
    case .unanswered(let reason)?, .forbidden(let reason)?: reason
    default: nil
    }
  }
}

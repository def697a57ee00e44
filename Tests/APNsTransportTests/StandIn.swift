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

/// A server that stands in for APNs on the loopback, and a transport that pushes to it.
final class StandIn {
  /// One request as the server saw it.
  struct Seen: Sendable {
    let request: HTTP2Request
    let at: Duration
  }

  /// What the handler and the test share.
  final class Record: Sendable {
    private let all = Mutex<[Seen]>([])
    var seen: [Seen] { all.withLock { $0 } }
    /// - Returns: how many came before it.
    func add(_ request: HTTP2Request) -> Int {
      all.withLock {
        $0.append(Seen(request: request, at: monotonicTime()))
        return $0.count - 1
      }
    }
  }

  let directory: URL
  let record = Record()
  let authority: SelfSignedAuthority
  let identity: SelfSignedAuthority.Identity
  private(set) var server: HTTP2Server
  private(set) var outcomes: [UInt64: PushOutcome] = [:]
  /// Numbers that had more than one result: must stay empty.
  private(set) var doubled: [UInt64] = []
  /// The most connections open at once that anybody saw.
  private(set) var connectionsSeen = 0

  static let ok = HTTP2Reply.respond(HTTP2Response(status: 200))

  static func refusal(_ status: Int, _ reason: String) -> HTTP2Reply {
    .respond(HTTP2Response(status: status, body: Data(#"{"reason":"\#(reason)"}"#.utf8)))
  }

  /// `answer` is given the request and how many came before it.
  init(
    maxConcurrentStreams: UInt32 = 1000, streamsAtStart: UInt32? = nil,
    names: [String] = ["localhost"],
    addresses: [String] = ["127.0.0.1"], on loopback: Loopback = .v4, port: UInt16 = 0,
    answer: @escaping @Sendable (HTTP2Request, Int) -> HTTP2Reply = { _, _ in StandIn.ok }
  ) throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("apns-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    authority = try SelfSignedAuthority(directory: directory)
    identity = try authority.issue(names: names, addresses: addresses)
    server = try HTTP2Server(
      on: loopback, port: port, certificateFile: identity.certificateFile,
      keyFile: identity.keyFile,
      settings: .init(maxConcurrentStreams: maxConcurrentStreams) { streamsAtStart }
    ) { [record] request in answer(request, record.add(request)) }
  }

  deinit {
    server.stop()
    do {
      try FileManager.default.removeItem(at: directory)
    } catch {
      print("left behind: \(directory.path): \(error)")
    }
  }

  func settings(host: String = "127.0.0.1") throws -> APNsTransportSettings {
    let url = try #require(URL(string: "https://\(host):\(server.port)"))
    return APNsTransportSettings(
      servers: [.production: url, .sandbox: url], authorityFile: authority.authorityFile)
  }

  func transport(
    time: any TimeSource = SystemTime(), tokens: (any ProviderTokenSource)? = nil,
    _ change: (inout APNsTransportSettings) -> Void = { _ in }
  ) throws -> APNsTransport {
    var settings = try settings()
    change(&settings)
    return try APNsTransport(
      settings: settings, tokens: tokens ?? Self.tokens(time: time), time: time,
      log: .discarding, metrics: Metrics())
  }

  /// Tokens `bearer jwt-1`, `bearer jwt-2`, …
  static func tokens(time: any TimeSource = SystemTime()) -> ProviderTokens {
    let made = Mutex(0)
    let count: @Sendable () -> Int = {
      made.withLock {
        $0 += 1
        return $0
      }
    }
    return ProviderTokens(
      signer: ProviderTokenSigner(keyID: "ABC1234567") { _ in "jwt-\(count())" }, time: time,
      log: .discarding, metrics: Metrics())
  }

  /// Drives the transport until `isDone`, or the limit is over.
  ///
  /// - Returns: whether it was done.
  @discardableResult
  func drive(
    _ transport: APNsTransport, atMost limit: Duration = .seconds(20), until isDone: () -> Bool
  ) -> Bool {
    let end = monotonicTime() + limit
    while !isDone() {
      guard monotonicTime() < end else { return false }
      for result in transport.advance() {
        if outcomes.updateValue(result.outcome, forKey: result.number) != nil {
          doubled.append(result.number)
        }
      }
      look()
      Poll.wait(transport.descriptors, atMost: .milliseconds(5))
    }
    return true
  }

  /// Notes how many connections are open now.
  func look() { connectionsSeen = max(connectionsSeen, server.openConnections) }

  /// Sends as there is room, and waits for the result of each.
  @discardableResult
  func push(
    _ requests: [PushRequest], through transport: APNsTransport,
    atMost limit: Duration = .seconds(20)
  ) -> Bool {
    var next = 0
    let wanted = outcomes.count + requests.count
    return drive(transport, atMost: limit) {
      var room = transport.capacity
      while next < requests.count, room > 0 {
        transport.send(requests[next])
        next += 1
        room -= 1
      }
      return outcomes.count >= wanted
    }
  }

  /// The same, and how long each took from its handing over to its result.
  func pushTimed(
    _ requests: [PushRequest], through transport: APNsTransport, atMost limit: Duration
  ) -> [UInt64: Duration] {
    var next = 0
    var open: [UInt64: Duration] = [:]
    var taken: [UInt64: Duration] = [:]
    drive(transport, atMost: limit) {
      let now = monotonicTime()
      for (number, since) in open where outcomes[number] != nil {
        taken[number] = now - since
        open[number] = nil
      }
      while next < requests.count, transport.capacity > 0, open.count < 200 {
        transport.send(requests[next])
        open[requests[next].number] = now
        next += 1
      }
      return taken.count == requests.count
    }
    return taken
  }

  /// As if it had not been sent: for one that is sent again.
  func forget(_ number: UInt64) { outcomes[number] = nil }

  func status(_ number: UInt64) -> Int? {
    if case .answered(let answer) = outcomes[number] { answer.status } else { nil }
  }

  /// Why pushes ended without an answer, and how often each.
  var unanswered: [String: Int] {
    outcomes.filter { status($0.key) == nil }.reduce(into: [:]) { counts, one in
      counts["\(one.value)", default: 0] += 1
    }
  }

  /// Statuses of all answers, and how often each came.
  var statuses: [Int: Int] {
    outcomes.keys.reduce(into: [:]) { counts, number in counts[status(number) ?? 0, default: 0] += 1
    }
  }
}

/// A push to a token of its own; its number is in its `apns-id`.
func request(
  _ number: UInt64, environment: PushEnvironment = .production, isProven: Bool = true,
  expiration: Int64? = nil, collapseID: String? = nil, deadline: UnixTime? = nil
) -> PushRequest {
  PushRequest(
    number: number, token: Samples.token(Int(number)), environment: environment,
    topic: "app.example.cook.push-type.liveactivity", pushType: "liveactivity", priority: 5,
    expiration: expiration, collapseID: collapseID,
    apnsID: String(format: "00000000-0000-4000-8000-%012d", Int(number)),
    body: Data(#"{"aps":{"event":"update"}}"#.utf8), isProven: isProven, deadline: deadline)
}

func requests(_ count: UInt64, from first: UInt64 = 1, isProven: Bool = true) -> [PushRequest] {
  (first..<first + count).map { request($0, isProven: isProven) }
}

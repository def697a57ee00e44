import APNsTransport
import Foundation
import HTTP2
import Pipeline
import Pushes
import ServiceRuntime
import Synchronization
import Vocabulary

/// What faults cost those who have nothing to do with them: how long pushes to good tokens take
/// beside each fault, against a clean run. Pushes leave at a fixed rate and are timed from when
/// they were due, so that one that is held up does not hide those behind it.
struct FaultBench {
  /// Pushes per second that are due.
  private static let rate = 4000
  private static let connectionsMax = 6
  /// Before what is measured: connections are made, and code is warm.
  private static let warmUp = 2000

  enum Fault: String, CaseIterable {
    case clean
    case goAways = "goaway_every_300"
    case onePercentBad = "bad_1_percent"
    case fivePercentBad = "bad_5_percent"
    case resets = "reset_1_percent"
    case all

    /// One in so many tokens is bad; nil: none.
    var badOneIn: Int? {
      switch self {
      case .clean, .goAways, .resets: nil
      case .onePercentBad, .all: 100
      case .fivePercentBad: 20
      }
    }
    var saysGoAway: Bool { self == .goAways || self == .all }
    var resets: Bool { self == .resets || self == .all }
  }

  struct Broken: Error, CustomStringConvertible {
    let description: String
  }

  private let fault: Fault
  private let pushes: Int
  private let apns: FaultyAPNs
  private let transport: APNsTransport
  private let body: Data
  /// By number: when it was due, until it is over.
  private var due: [Duration] = []
  private var taken: [Duration] = []
  private var ended = 0
  private var connectionsMost = 0

  /// Each fault in turn, again and again, so that what else the machine does meets all alike; the
  /// median of their p99 counts.
  static func run(pushes: Int, rounds: Int, directory: String) throws {
    var p99s: [Fault: [Duration]] = [:]
    for round in 1...rounds {
      for fault in Fault.allCases {
        let place = directory + "/\(round)-\(fault.rawValue)"
        try FileManager.default.createDirectory(
          atPath: place, withIntermediateDirectories: true)
        var bench = try FaultBench(fault, pushes: pushes, directory: place)
        p99s[fault, default: []].append(try bench.run())
      }
    }
    let medians = p99s.mapValues { $0.sorted()[rounds / 2] }
    for fault in Fault.allCases {
      guard let clean = medians[.clean], let p99 = medians[fault] else { continue }
      let ratio = ((p99 / clean) * 100).rounded() / 100
      let milliseconds = ((p99 / .milliseconds(1)) * 100).rounded() / 100
      print(
        "{\"name\":\"faults_\(fault.rawValue)\",\"p99_ms\":\(milliseconds),"
          + "\"p99_to_clean\":\(ratio)}")
    }
  }

  private init(_ fault: Fault, pushes: Int, directory: String) throws {
    self.fault = fault
    self.pushes = pushes
    apns = try FaultyAPNs(fault, directory: directory)
    let server = try Server(port: "\(apns.port)", authorityFile: apns.authorityFile)
    transport = try Pushing.transport(to: server, metrics: Metrics()) {
      $0.connectionsMax = Self.connectionsMax
    }
    body = LiveActivityPayload.stamped(try Pushing.payload(), at: SystemTime().now())
  }

  /// - Returns: the p99 of good tokens.
  private mutating func run() throws -> Duration {
    defer {
      transport.close()
      apns.stop()
    }
    let all = Self.warmUp + pushes
    due = Array(repeating: .zero, count: all)
    let start = monotonicTime()
    var next = 0
    while ended < all {
      let now = monotonicTime()
      while next < all, now >= start + .seconds(1) * next / Self.rate, transport.capacity > 0 {
        due[next] = start + .seconds(1) * next / Self.rate
        try send(next)
        next += 1
      }
      try collect()
      connectionsMost = max(connectionsMost, apns.openConnections)
      Poll.wait(transport.descriptors, atMost: .milliseconds(1))
    }
    return try report()
  }

  /// Tells the stand-in which push it is.
  private static func apnsID(_ number: Int) -> String {
    let digits = String(number)
    return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits
  }

  private func isBad(_ number: Int) -> Bool { fault.badOneIn.map { number % $0 == 7 } ?? false }

  private func send(_ number: Int) throws {
    transport.send(
      PushRequest(
        number: UInt64(number), token: try Pushing.token(number), environment: .production,
        topic: Pushing.topic, pushType: "liveactivity", priority: 5, expiration: 1_781_800_000,
        collapseID: nil, apnsID: Self.apnsID(number), body: body, isProven: !isBad(number)))
  }

  private mutating func collect() throws {
    for result in transport.advance() {
      let number = Int(result.number)
      switch result.outcome {
      // As the sender does: once more at once, under the same id.
      case .unanswered, .neverProcessed: try send(number)
      case .answered(let answer):
        guard (answer.status == 400) == isBad(number) else {
          throw Broken(description: "push \(number): \(answer)")
        }
        ended += 1
        if number >= Self.warmUp, !isBad(number) { taken.append(monotonicTime() - due[number]) }
      }
    }
  }

  private func report() throws -> Duration {
    let seen = apns.seen
    let good = (0..<(Self.warmUp + pushes)).count { !isBad($0) }
    let doubled = Set(seen.processed.filter { $0.value > 1 }.keys)
    guard seen.accepted == good, connectionsMost <= Self.connectionsMax,
      doubled.isSubset(of: seen.inDoubt)
    else {
      throw Broken(
        description: "\(fault.rawValue): \(seen.accepted) of \(good) accepted, "
          + "\(doubled.subtracting(seen.inDoubt).count) doubled without doubt, "
          + "\(connectionsMost) connections")
    }
    let sorted = taken.sorted()
    let milliseconds = { (part: Int) in
      ((sorted[min(sorted.count - 1, sorted.count * part / 1000)] / .milliseconds(1)) * 100)
        .rounded() / 100
    }
    print(
      "  \(fault.rawValue): \(pushes) pushes at \(Self.rate)/s, p50 \(milliseconds(500)) ms, "
        + "p99 \(milliseconds(990)) ms, most \(milliseconds(1000)) ms; "
        + "\(seen.goAways) GOAWAYs, \(seen.inDoubt.count) in doubt, \(doubled.count) doubled, "
        + "\(connectionsMost) connections at once, 0 lost")
    return sorted[sorted.count * 99 / 100]
  }
}

/// A stand-in for APNs that misbehaves as told, in this process.
private final class FaultyAPNs: Sendable {
  struct Seen {
    /// Requests by apns-id that were acted upon.
    var processed: [String: Int] = [:]
    /// Distinct pushes that were answered with 200.
    var accepted = 0
    /// Acted upon without an answer.
    var inDoubt: Set<String> = []
    var goAways = 0
    var requests = 0
    var narrowed: Set<Int> = []
    var taken: Set<String> = []
  }

  /// The server's handler and we share it.
  private final class Conduct: Sendable {
    let fault: FaultBench.Fault
    let seen = Mutex(Seen())

    init(_ fault: FaultBench.Fault) { self.fault = fault }

    func reply(to request: HTTP2Request) -> HTTP2Reply {
      let id = request.header("apns-id") ?? ""
      guard let number = Int(id.suffix(12)) else {
        return .respond(HTTP2Response(status: 400, body: Data(#"{"reason":"BadMessageId"}"#.utf8)))
      }
      return seen.withLock { seen in
        seen.requests += 1
        if fault.saysGoAway, seen.requests % 300 == 0 {
          seen.goAways += 1
          return .goAway(debug: #"{"reason":"Shutdown"}"#, after: nil)
        }
        seen.processed[id, default: 0] += 1
        if fault.resets, seen.requests % 100 == 50 {
          seen.inDoubt.insert(id)
          return .resetStream(errorCode: 2)
        }
        if let oneIn = fault.badOneIn, number % oneIn == 7 {
          seen.narrowed.insert(request.connection)
          let body = Data(#"{"reason":"BadDeviceToken"}"#.utf8)
          return .withStreams(1, then: .respond(HTTP2Response(status: 400, body: body)))
        }
        if seen.taken.insert(id).inserted { seen.accepted += 1 }
        let ok = HTTP2Reply.respond(HTTP2Response(status: 200, headers: [("apns-id", id)]))
        return seen.narrowed.remove(request.connection) != nil
          ? .withStreams(nil, then: ok) : ok
      }
    }
  }

  private let conduct: Conduct
  private let server: HTTP2Server
  let authorityFile: String

  init(_ fault: FaultBench.Fault, directory: String) throws {
    let place = URL(filePath: directory, directoryHint: .isDirectory)
    let authority = try SelfSignedAuthority(directory: place)
    let identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    authorityFile = authority.authorityFile
    let conduct = Conduct(fault)
    self.conduct = conduct
    server = try HTTP2Server(
      certificateFile: identity.certificateFile, keyFile: identity.keyFile,
      settings: HTTP2Server.Settings { 1 }, handler: { conduct.reply(to: $0) })
  }

  var port: UInt16 { server.port }
  var openConnections: Int { server.openConnections }
  var seen: Seen { conduct.seen.withLock { $0 } }
  func stop() { server.stop() }
}

import Foundation
import Pipeline
import SQLiteStore
import ServiceRuntime
import Sessions
import Synchronization
import Vocabulary

/// A database full of sessions, some of which expire while others are worked on: how late is each
/// ended, and how long do other writers wait?
///
///     swift run -c release expiry-benchmark FOLDER [--sessions=1000000] [--expiring=10000]
///       [--seconds=60] [--sweeps=2]
///
/// A folder that was filled before is used again. The sweeps hold the file by handles of their own,
/// as processes do. A relay empties the outbox to nowhere, and a writer does what the API does for
/// one request, fifty times a second.
struct ExpiryBenchmark {
  private let path: String
  private var sessions = 1_000_000
  private var expiring = 10_000
  private var seconds = 60
  private var sweeps = 2
  private let time = SystemTime()

  struct Usage: Error, CustomStringConvertible {
    let description: String
  }

  init(arguments: [String]) throws {
    guard let folder = arguments.first, !folder.hasPrefix("-") else {
      throw Usage(description: "want a folder for the database, and then --name=number")
    }
    path = URL(filePath: folder).standardizedFileURL.path(percentEncoded: false) + "/expiry.sqlite"
    for argument in arguments.dropFirst() {
      let parts = argument.split(separator: "=")
      guard parts.count == 2, let number = Int(parts[1]), number > 0 else {
        throw Usage(description: "\(argument): want --name=number")
      }
      switch parts[0] {
      case "--sessions": sessions = number
      case "--expiring": expiring = number
      case "--seconds": seconds = number
      case "--sweeps": sweeps = number
      default:
        throw Usage(description: "\(parts[0]) is none of sessions, expiring, seconds, sweeps")
      }
    }
  }

  /// Before the first session expires: the writer alone.
  private static let quiet: Duration = .seconds(10)
  /// After the last one: what is late may come.
  private static let patience: Duration = .seconds(30)

  func run() throws {
    let store = try SQLiteStore(path: path)
    try fill(store)
    let first = time.now() + Self.quiet
    try addExpiring(store, from: first)
    let metrics = Metrics()
    let stop = StopSignal()
    let bell = Bell()
    var threads = [startRelay(metrics, stop, bell)]
    for number in 0..<sweeps { threads.append(startSweep(number, metrics, stop, bell)) }
    let alone = try write(until: first)
    let during = try write(until: first + .seconds(seconds))
    let ended = try awaitEnd(of: store, until: first + .seconds(seconds) + Self.patience)
    stop.raise()
    while threads.contains(where: { !$0.hasEnded }) { Poll.wait([], atMost: .milliseconds(20)) }
    print("sessions \(sessions), expiring \(expiring) in \(seconds) s, sweeps \(sweeps)")
    print("ended \(ended) of \(expiring)")
    print("other writers' transaction while nothing expires: \(alone)")
    print("                            while sessions expire: \(during)")
    let wanted = ["lockstep_expiry_lateness", "lockstep_expiry_lost", "lockstep_events_published"]
    for line in metrics.text().split(separator: "\n")
    where wanted.contains(where: line.hasPrefix) { print(line) }
  }

  // MARK: Filling

  /// In the order of their ids: filling is not what is measured.
  private func liveID(_ number: Int) -> SessionID { SessionID("cs_\(10_000_000 + number)") }

  /// Scattered among the others.
  private func dueID(_ number: Int) -> SessionID {
    SessionID("\(liveID(number &* 7_368_787 % sessions))-\(number)")
  }

  private func fill(_ store: SQLiteStore) throws {
    if try store.read({ try $0.session(liveID(sessions - 1)) }) != nil { return }
    let begun = time.elapsed()
    let limits = SessionLimits(ttl: .seconds(8 * 3600))
    for start in stride(from: 0, to: sessions, by: 10_000) {
      let now = time.now()
      try store.write { rows in
        for number in start..<min(start + 10_000, sessions) {
          try rows.save(begin(liveID(number), number, at: now, limits))
        }
      }
    }
    print("filled in \((time.elapsed() - begun).components.seconds) s")
  }

  /// Deadlines evenly spread over the time asked for.
  private func addExpiring(_ store: SQLiteStore, from first: UnixTime) throws {
    let now = time.now()
    try store.write { rows in
      for number in 0..<expiring {
        let deadline = first + .seconds(seconds) * number / expiring
        let limits = SessionLimits(ttl: deadline - now)
        try rows.save(begin(dueID(number), sessions + number, at: now, limits))
      }
    }
  }

  private func begin(_ id: SessionID, _ number: Int, at now: UnixTime, _ limits: SessionLimits)
    throws
    -> Session
  {
    try Session.create(
      id: id, date: "2030-01-31",
      initiator: Profile(userID: UserID("u_\(number)"), name: "Dennis"),
      partner: Profile(userID: UserID("u_\(number + 1)"), name: "Mara"), at: now, limits: limits
    ).session
  }

  // MARK: What runs at once

  private func startSweep(_ number: Int, _ metrics: Metrics, _ stop: StopSignal, _ bell: Bell)
    -> OwnedThread
  {
    let (path, time) = (path, time)
    return OwnedThread.start(named: "sweep-\(number)") {
      do {
        let sweep = ExpirySweep(
          store: try SQLiteStore(path: path), limits: SessionLimits(), time: time,
          log: .discarding, metrics: metrics, onCommit: { bell.ring() })
        sweep.run(until: stop)
      } catch {
        print("sweep \(number): \(error)")
      }
    }
  }

  private func startRelay(_ metrics: Metrics, _ stop: StopSignal, _ bell: Bell) -> OwnedThread {
    let (path, time) = (path, time)
    return OwnedThread.start(named: "relay") {
      do {
        let relay = OutboxRelay(
          store: try SQLiteStore(path: path), publisher: Nowhere(), eventsExchange: "events",
          time: time, log: .discarding, metrics: metrics)
        relay.run(until: stop, grace: .seconds(5)) { bell.wait(atMost: $0, or: stop) }
      } catch {
        print("relay: \(error)")
      }
    }
  }

  /// Confirms everything.
  private final class Nowhere: Publisher {
    let isBlocked = false
    func open() {}
    func publish(_ messages: [OutgoingMessage]) -> [PublishOutcome] {
      messages.map { _ in .confirmed }
    }
    func keepAlive() {}
    func close() {}
  }

  /// One mutation every 20 ms, as the API does it.
  private func write(until end: UnixTime) throws -> Spread {
    let store = try SQLiteStore(path: path)
    var spread = Spread()
    var number = 0
    while time.now() < end {
      number += 1
      let id = liveID(number * 7919 % sessions)
      let begun = time.elapsed()
      try store.write { rows in
        guard let session = try rows.session(id), let actor = session.invited.first,
          let change = try session.apply(
            .answer, by: actor.userID, at: time.now(), newJobID: JobID("job"),
            limits: SessionLimits())
        else { return }
        try rows.save(change.session)
        try rows.append(
          Event.outboxEntry(
            for: change, id: EventID("\(id)-\(number)"), at: time.now(), traceparent: nil))
      }
      let taken = time.elapsed() - begun
      spread.add(taken)
      Poll.wait([], atMost: .milliseconds(20) - taken)
    }
    return spread
  }

  /// - Returns: how many of those due have ended.
  private func awaitEnd(of store: SQLiteStore, until end: UnixTime) throws -> Int {
    while time.now() < end {
      let left = try store.read { try $0.expiredSessions(at: time.now(), limit: 1).count }
      if left == 0 { break }
      Poll.wait([], atMost: .milliseconds(20))
    }
    return try (0..<expiring).count { number in
      try store.read { try $0.session(dueID(number))?.endReason } == .ttl
    }
  }
}

/// How long something took, many times.
struct Spread: CustomStringConvertible {
  private var all: [Duration] = []

  mutating func add(_ duration: Duration) { all.append(duration) }

  var description: String {
    let sorted = all.sorted()
    guard let longest = sorted.last else { return "never" }
    func at(_ share: Double) -> String {
      Self.milliseconds(sorted[Int(Double(sorted.count - 1) * share)])
    }
    return
      "\(sorted.count) times, p50 \(at(0.5)), p99 \(at(0.99)), max \(Self.milliseconds(longest))"
  }

  private static func milliseconds(_ duration: Duration) -> String {
    let hundredths = (duration / Duration.microseconds(10)).rounded()
    return "\(hundredths / 100) ms"
  }
}

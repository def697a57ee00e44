import Activities
import Foundation
import Pipeline
import ServiceRuntime
import Vocabulary

/// Writes what a tap hears to a recording until it is told to stop. One thread runs it.
package final class Recorder {
  package struct Settings {
    package var path: String
    package var source: String
    /// Nil keeps everything as it is.
    package var standIns: StandIns?
    /// Of the activities that stand-ins can be made for.
    package var contracts = ContractCatalog.builtIn
    /// Compressed size after which a new file is begun.
    package var file_bytes_max = 256 * 1024 * 1024
    package var file_span: Duration = .seconds(3600)
    /// How long at most; nil until it is stopped.
    package var span: Duration?

    package init(path: String, source: String, standIns: StandIns?) {
      self.path = path
      self.source = source
      self.standIns = standIns
    }
  }

  package struct Report: Hashable, Sendable {
    package var events = 0
    /// At least: by the jumps of the sessions' and activities' revs.
    package var missed = 0
    package var leftOut = 0
    /// Why the first was left out.
    package var leftOutBecause: String?
    package var files: [String] = []
  }

  /// How often what was heard is brought to the disk.
  private static let flushing: Duration = .seconds(1)
  /// How long one look at the tap waits: a stop is heard within it.
  private static let looking: Duration = .milliseconds(200)

  private let settings: Settings
  private let tap: any EventTap
  private let time: any TimeSource
  private let log: Log
  private let lookUp: (UserID) -> RecordedUser?
  private let file: RecordingFile
  private var gaps = RevGaps()
  private var report = Report()
  private var flushedAt: Duration = .zero

  /// `lookUp`: what the registry knows of a user; nil when it was not asked or knows nothing.
  package init(
    _ settings: Settings, tap: any EventTap, time: any TimeSource, log: Log,
    lookUp: @escaping (UserID) -> RecordedUser? = { _ in nil }
  ) {
    self.settings = settings
    self.tap = tap
    self.time = time
    self.log = log
    self.lookUp = lookUp
    file = RecordingFile(
      path: settings.path,
      rotation: .init(bytesMax: settings.file_bytes_max, span: settings.file_span)
    ) { now in
      RecordingHeader(
        version: RecordingHeader.versionNow, madeAt: now, source: settings.source,
        anonymised: settings.standIns != nil)
    }
  }

  /// Records until `stop` is raised. A broker that goes away is waited for; what happens meanwhile
  /// is missed, and the file says so.
  ///
  /// `onProgress` is told after each look.
  ///
  /// - Throws: what kept the file from being written.
  package func run(until stop: StopSignal, onProgress: (Report) -> Void) throws -> Report {
    var backoff = Backoff()
    var wasOpen = false
    let end = settings.span.map { time.elapsed() + $0 }
    while !stop.isRaised, end.map({ time.elapsed() < $0 }) ?? true {
      do {
        try tap.open()
        if !wasOpen { log.info("recording", ["to": settings.path]) }
        wasOpen = true
        backoff.reset()
        try take(try tap.receive(within: Self.looking))
      } catch let lost as BrokerLost {
        log.warning("broker is away", ["because": lost.reason])
        if wasOpen {
          try file.add(RecordedLine.text(missed: 0, because: lost.reason), at: time.now())
        }
        wasOpen = false
        stop.wait(atMost: backoff.next())
      }
      onProgress(report)
    }
    tap.close()
    try file.finish(
      RecordingEnd(events: report.events, missed: report.missed, leftOut: report.leftOut),
      at: time.now())
    report.files = file.files
    return report
  }

  private func take(_ messages: [Message]) throws {
    for message in messages { try take(message) }
    let now = time.elapsed()
    guard !messages.isEmpty || now - flushedAt >= Self.flushing else { return }
    if now - flushedAt >= Self.flushing {
      try file.flush()
      flushedAt = now
    }
    try tap.acknowledge()
  }

  private func take(_ message: Message) throws {
    let now = time.now()
    let form = RecordedForm(
      message, standIns: settings.standIns, contracts: settings.contracts, receivedAt: now)
    switch form {
    case .leftOut(let reason):
      report.leftOut += 1
      report.leftOutBecause = report.leftOutBecause ?? "\(message.type): \(reason)"
    case .event(let line, let users, let session):
      report.events += 1
      if let session { try note(gaps.missed(before: session.rev, of: session.id), at: now) }
      try file.add(line, users: users, at: now, user: recorded)
    }
  }

  private func note(_ missed: Int, at now: UnixTime) throws {
    report.missed = max(0, report.missed + missed)
    guard missed > 0 else { return }
    try file.add(RecordedLine.text(missed: missed, because: "revs jumped"), at: now)
  }

  private func recorded(_ user: UserID) -> RecordedUser {
    let known = lookUp(user)
    return RecordedUser(
      user: settings.standIns?.user(user) ?? user,
      tokens: known?.tokens ?? RecordedUser.usualTokens, assumed: known == nil ? true : nil,
      locale: known?.locale, apps: known?.apps)
  }
}

import Foundation
import HTTPAPI
import HTTPServing
import OTLPExport
import Pipeline
import ServiceRuntime
import Vocabulary

/// What every role has: a log, metrics, health, an admin port, threads that it waits for, and an
/// orderly end.
final class RoleProcess: Sendable {
  let log: Log
  let metrics = Metrics()
  let health = Health()
  let lanes = LaneBoard()
  let stop = StopSignal()
  let time = SystemTime()
  let grace: Duration
  /// Nil while nobody traces.
  let tracer: Tracer?
  private let export: TraceExport?
  private let admin: HTTPServer
  private let supervisor: Supervisor
  private let failure = FirstFailure()

  /// How long after the grace the process still waits for a loop to return before it names it.
  private static let lastWait: Duration = .seconds(5)

  /// The settings that every role reads.
  static let settingNames =
    ["LOG", "ADMIN_ADDR", "SHUTDOWN_GRACE_SECONDS"] + TraceExport.settingNames

  struct Settings: Sendable {
    let log: Log
    let adminAddress: ListenAddress
    let grace: Duration
    let traces: TraceExport.Settings?
    let role: String
    let supervisor: Supervisor

    init(reading settings: inout SettingsReader, role: String) {
      settings.refuseMisspelled(among: SettingCatalog.all.map(\.name))
      log = Reading.log(&settings, role: role)
      adminAddress =
        settings.value("ADMIN_ADDR") { try ListenAddress($0) }
        ?? ListenAddress(host: "127.0.0.1", port: 9090)
      grace = settings.seconds("SHUTDOWN_GRACE_SECONDS", in: 1...300, default: 20)
      traces = TraceExport.Settings(reading: &settings)
      self.role = role
      supervisor = settings.supervisor
    }
  }

  /// `threads`: of the admin port. `more`: asked first; nil is what it does not know.
  init(
    _ settings: Settings, threads: Int = 1,
    more: @escaping @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil }
  ) throws {
    log = settings.log
    grace = settings.grace
    supervisor = settings.supervisor
    // Before the first thread: they inherit the signal mask.
    stop.raiseOnTermination()
    let (log, metrics) = (log, metrics)
    export = settings.traces.map {
      TraceExport($0, role: settings.role, log: log, metrics: metrics)
    }
    tracer = export?.tracer
    let health = health
    ProcessMetrics.add(to: metrics, startedAt: time.now())
    // The admin port answers before the role has opened what it serves with.
    health.report("process", trouble: "starting")
    let routes = AdminRoutes(
      readiness: { health.readiness }, metrics: metrics, lanes: lanes)
    do {
      admin = try HTTPServer(
        address: settings.adminAddress, threading: .pool(threads), log: log, refusal: API.refusal,
        handler: { more($0) ?? routes.handle($0) })
    } catch {
      throw CommandFailure(.unavailable, "admin port: \(error)")
    }
  }

  /// Stops the process because one of its loops cannot go on; the first such reason is told.
  func fail(_ reason: CommandFailure) {
    failure.note(reason)
    stop.raise()
  }

  /// Calls the process ready as far as its loops are, waits for the stop signal, then until every
  /// loop has returned.
  ///
  /// - Throws: ``CommandFailure`` naming the loops that hang, or what made the process stop.
  func runUntilStopped(_ loops: [(name: String, thread: OwnedThread)]) throws {
    health.report("process", trouble: nil)
    // A broker that is away does not keep a process from being started: it waits.
    supervisor.tell(.ready(status: health.readiness.line))
    while !stop.wait(atMost: supervisor.pause) {
      supervisor.tell(.alive(status: health.readiness.line))
    }
    health.report("process", trouble: "draining")
    log.info("stopping", ["grace_seconds": "\(grace.components.seconds)"])
    let end = time.elapsed() + grace + Self.lastWait
    supervisor.tell(.stopping(limit: grace + Self.lastWait * 2))
    while loops.contains(where: { !$0.thread.hasEnded }), time.elapsed() < end {
      Poll.wait([], atMost: .milliseconds(20))
    }
    export?.finish()
    admin.stop()
    if let reason = failure.reason { throw reason }
    let hanging = loops.filter { !$0.thread.hasEnded }.map(\.name)
    guard hanging.isEmpty else {
      throw CommandFailure(.software, "did not stop in time: \(hanging.joined(separator: ", "))")
    }
    log.info("stopped")
  }
}

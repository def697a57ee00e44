import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Sessions
import Vocabulary

/// The notifier, the expiry sweep, and an outbox relay of their own: sessions end and people hear
/// of it while the API is down.
enum NotifierRole {
  private static let worker = WorkerRole.notifier
  static let name = worker.name
  static let settingNames =
    WorkerRole.settingNames + RecordsReading.settingNames
    + [SessionReading.settingName, "WEB_ORIGIN"]

  static func run(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let frame = RoleProcess.Settings(reading: &settings, role: name)
    let database = StoreWiring.address(reading: &settings)
    let broker = BrokerWiring(reading: &settings)
    let limits = SessionReading.limits(&settings)
    let records = RecordsReading(&settings)
    let origin = WebPushWiring.origin(reading: &settings)
    let prefetch = WorkerRole.prefetch(reading: &settings)
    guard settings.problems.isEmpty, let database, let broker else {
      throw Reading.failure(settings)
    }
    let process = try RoleProcess(frame)
    let store = try StoreWiring.open(database, metrics: process.metrics)
    let bell = Bell()
    let notifying = try worker.start(
      in: process,
      with: WorkerRole.Equipment(store: store, broker: broker, prefetch: prefetch, origin: origin),
      health: process.health)
    if origin == nil { sayThatNoBrowserIsTold(process) }
    try process.runUntilStopped(
      [
        (name, notifying), startSweep(process, store: store, limits: limits, bell: bell),
        startRecordKeeping(process, store: store, records),
        RelayWiring.start(process, store: store, broker: broker, bell: bell),
      ])
  }

  static func sayThatNoBrowserIsTold(_ process: RoleProcess) {
    process.log.info("no browser is told", ["because": "LOCKSTEP_WEB_ORIGIN is not set"])
  }

  /// `bell`: wakes the relay that carries the sweep's events.
  static func startSweep(
    _ process: RoleProcess, store: any Store, limits: SessionLimits, bell: Bell
  ) -> (name: String, thread: OwnedThread) {
    let name = "expiry-sweep"
    let thread = OwnedThread.start(named: name) {
      let sweep = ExpirySweep(
        store: store, limits: limits, time: process.time, log: process.log,
        metrics: process.metrics, health: process.health, tracer: process.tracer,
        onCommit: { bell.ring() })
      sweep.run(until: process.stop)
    }
    return (name, thread)
  }
}

extension NotifierRole {
  /// Removes what has grown old.
  static func startRecordKeeping(
    _ process: RoleProcess, store: any Store, _ records: RecordsReading
  ) -> (name: String, thread: OwnedThread) {
    let name = "record-keeping"
    let thread = OwnedThread.start(named: name) {
      let keeping = RecordKeeping(
        store: store, kept: records.kept, life: records.life, time: process.time,
        log: process.log, metrics: process.metrics)
      keeping.run(until: process.stop)
    }
    return (name, thread)
  }
}

/// How long records of what happened are kept, and tokens that no phone registers again, as
/// settings say.
struct RecordsReading: Sendable {
  static let settingNames = ["RECORDS_DAYS", "TOKENS_DAYS"]

  let kept: Duration
  let life: TokenLife

  init(_ settings: inout SettingsReader) {
    let records = settings.integer("RECORDS_DAYS", in: 1...365, default: 14)
    let tokens = settings.integer("TOKENS_DAYS", in: 30...3650, default: 270)
    kept = .seconds(records * 24 * 3600)
    life = TokenLife(device: .seconds(tokens * 24 * 3600))
  }
}

/// How long sessions live, as settings say.
enum SessionReading {
  static let settingName = "SESSION_TTL_SECONDS"

  static func limits(_ settings: inout SettingsReader) -> SessionLimits {
    SessionLimits(ttl: settings.seconds("SESSION_TTL_SECONDS", in: 5...28_800, default: 7200))
  }
}

import HTTPAPI
import Pipeline
import ServiceRuntime

/// All roles in one process, for one small machine. Each loop still owns its connections.
enum RunRole {
  static let name = "run"
  static let settingNames =
    WorkerRole.settingNames + APIRole.ownSettingNames + APNsWiring.settingNames
    + RecordsReading.settingNames
    + WebPushWiring.settingNames.filter { !WebPushWiring.apiSettingNames.contains($0) }
    + FCMWiring.settingNames + ["WEB_ORIGIN"]

  static func run(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let frame = RoleProcess.Settings(reading: &settings, role: name)
    let database = StoreWiring.address(reading: &settings)
    let broker = BrokerWiring(reading: &settings)
    let api = APIRole.Settings(reading: &settings)
    let apns = APNsWiring(reading: &settings)
    // Off without a key.
    let hasWebPush = WebPushWiring.isConfigured(settings)
    let webPush = hasWebPush ? WebPushWiring(reading: &settings) : nil
    let hasFCM = FCMWiring.isConfigured(settings)
    let fcm = hasFCM ? FCMWiring(reading: &settings) : nil
    let records = RecordsReading(&settings)
    let origin = WebPushWiring.origin(reading: &settings)
    let prefetch = WorkerRole.prefetch(reading: &settings)
    guard settings.problems.isEmpty, let database, let broker, let api else {
      throw Reading.failure(settings)
    }
    let process = try RoleProcess(frame)
    let store = try StoreWiring.open(database, metrics: process.metrics)
    let bell = Bell()
    var loops = try APIRole.start(api, process, store: store, broker: broker, bell: bell)
    loops.append(
      NotifierRole.startSweep(process, store: store, limits: api.api.session, bell: bell))
    loops.append(NotifierRole.startRecordKeeping(process, store: store, records))
    let equipment = WorkerRole.Equipment(
      store: store, broker: broker, prefetch: prefetch, contracts: api.contracts, apns: apns,
      webPush: webPush, fcm: fcm,
      origin: hasWebPush ? origin : nil)
    if hasWebPush, origin == nil { NotifierRole.sayThatNoBrowserIsTold(process) }
    var off: Set<StageName> = []
    if !hasWebPush { off.insert(.webpush) }
    if !hasFCM { off.insert(.fcm) }
    for worker in WorkerRole.all where !off.contains(worker.stage) {
      // The API beside it serves on, whatever one stage has.
      let health = process.health.scoped(to: worker.name, effect: .degrades)
      loops.append((worker.name, try worker.start(in: process, with: equipment, health: health)))
    }
    loops.append(try apns.startChannels(process, store: store))
    try process.runUntilStopped(loops)
  }
}

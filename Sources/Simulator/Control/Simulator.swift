import Foundation
import HTTP2
import HTTPServing
import ServiceRuntime
import Vocabulary

/// Stands in for Apple and the browsers' push services on one machine: APNs and Web Push over
/// HTTP/2 and TLS on loopback, fleets of virtual phones and browsers, a page that shows them, and a
/// web app with its service worker.
///
/// It serves from the moment it is made; ``run(until:)`` lets the phones' time pass and makes their
/// calls to the API.
package final class Simulator: Sendable {
  /// How often cards are looked at for being stale or due to leave.
  static let tick = Duration.milliseconds(200)

  package let world: World
  package let line: PhoneLine
  package let inboxes: InboxLine
  /// PEM: what a sender has to trust.
  package let authorityFile: String
  private let desk: PhoneDesk
  private let browserDesk: BrowserDesk
  private let log: Log
  private let stopping = StopSignal()
  private let apns: HTTP2Server
  private let sandbox: HTTP2Server?
  private let webPush: HTTP2Server
  private let fcm: HTTP2Server
  private let control: HTTPServer

  /// Makes the certificates, opens the ports and serves. `now` is the wall clock that stamps,
  /// expiry and provider tokens are held against, `elapsed` the monotonic one for waits.
  ///
  /// - Throws: ``SettingsError`` for what cannot be, or why a port or file could not be had.
  package init(
    _ settings: SimulatorSettings, log: Log, now: @escaping @Sendable () -> UnixTime,
    elapsed: @escaping @Sendable () -> Duration = monotonicTime
  ) throws {
    self.log = log
    let rules = APNsRules(
      bundleID: settings.bundleID,
      providerTokens: try ProviderTokenRules(
        keyID: settings.keyID, teamID: settings.teamID, publicKey: settings.providerPublicKey))
    let seed = settings.seed ?? UInt64.random(in: .min ... .max)
    let line = PhoneLine(caFile: settings.apiCAFile, log: log, elapsed: elapsed)
    let world = World(
      fleet: Fleet(rules: rules, seed: seed), faults: settings.faults, seed: seed, now: now,
      send: line.enqueue)
    self.line = line
    self.world = world
    let certificates = try SimulatorCertificates(directory: settings.certificateDirectory)
    authorityFile = certificates.authorityFile
    let limits = HTTP2Server.Settings(maxConcurrentStreams: settings.streamsMax) {
      world.read { $0.faults.streamsAtStart }.map { UInt32(clamping: $0) }
    }
    apns = try certificates.server(
      port: settings.apnsPort, settings: limits, elapsed: elapsed,
      handler: APNsService(
        world: world, environment: settings.sandboxPort == nil ? nil : .production
      ).reply)
    sandbox = try settings.sandboxPort.map { port in
      try certificates.server(
        port: port, settings: limits, elapsed: elapsed,
        handler: APNsService(world: world, environment: .sandbox).reply)
    }
    webPush = try certificates.server(
      port: settings.webPushPort,
      settings: HTTP2Server.Settings(maxConcurrentStreams: settings.streamsMax), elapsed: elapsed,
      handler: WebPushService(world: world).reply)
    fcm = try certificates.server(
      port: settings.fcmPort,
      settings: HTTP2Server.Settings(maxConcurrentStreams: settings.streamsMax), elapsed: elapsed,
      handler: FCMService(world: world).reply)
    let origin = "https://localhost:\(webPush.port)"
    world.change { state, _ in
      state.webPushOrigin = origin
      state.fcmProject = settings.fcmProject
      return ((), [])
    }
    inboxes = InboxLine(caFile: settings.apiCAFile, log: log)
    desk = PhoneDesk(
      world: world, line: line, inboxes: inboxes, contracts: settings.contracts,
      apiURL: settings.apiURL, caFile: settings.apiCAFile)
    browserDesk = BrowserDesk(
      world: world, inboxes: inboxes, apiURL: settings.apiURL, caFile: settings.apiCAFile)
    let api = ControlAPI(
      world: world, desk: desk, browsers: BrowserRoutes(world: world, desk: browserDesk),
      androids: AndroidRoutes(
        world: world, line: line, apiURL: settings.apiURL, caFile: settings.apiCAFile),
      webApp: WebAppRoutes(apiURL: settings.apiURL, caFile: settings.apiCAFile),
      stopping: stopping)
    control = try HTTPServer(
      address: ListenAddress(host: "127.0.0.1", port: settings.controlPort),
      threading: .perConnection, log: log, handler: api.answer)
  }

  package var apnsPort: UInt16 { apns.port }
  /// The same as ``apnsPort`` when one port serves both.
  package var sandboxPort: UInt16 { sandbox?.port ?? apns.port }
  package var webPushPort: UInt16 { webPush.port }
  package var fcmPort: UInt16 { fcm.port }
  package var controlPort: UInt16 { control.port }
  /// The stand-in itself: stream limits and connections can be changed from tests.
  package var apnsServer: HTTP2Server { apns }

  /// Lets time pass on the phones and makes their calls; returns once `stop` is raised and
  /// everything is closed.
  package func run(until stop: StopSignal) {
    log.info(
      "simulator.serving",
      [
        "apns": "https://127.0.0.1:\(apnsPort)", "sandbox": "https://127.0.0.1:\(sandboxPort)",
        "fcm": "https://localhost:\(fcmPort)", "web_push": "https://localhost:\(webPushPort)",
        "page": "http://127.0.0.1:\(controlPort)/", "ca_file": authorityFile,
      ])
    let (line, world, stopping) = (line, world, stopping)
    let callers = (0..<PhoneLine.callersCount).map { caller in
      OwnedThread.start(named: "phone-line-\(caller)") {
        line.run(caller: caller, until: stopping) { world.complain($1, of: $0) }
      }
    }
    let looker = OwnedThread.start(named: "inbox-line") { [inboxes] in
      inboxes.run(until: stopping) { world.show($1, on: $0) }
    }
    while !stop.wait(atMost: Self.tick) {
      world.change { state, now in ((), state.fleet.pass(to: now)) }
    }
    stopping.raise()
    control.stop()
    apns.stop()
    sandbox?.stop()
    webPush.stop()
    fcm.stop()
    while !callers.allSatisfy(\.hasEnded) || !looker.hasEnded || !apns.hasStopped
      || !webPush.hasStopped || !fcm.hasStopped || !(sandbox?.hasStopped ?? true)
    {
      Poll.wait([], atMost: .milliseconds(10))
    }
    log.info("simulator.stopped")
  }

  /// Adds a phone and makes its tokens known to the API.
  ///
  /// - Throws: ``SettingsError`` when the fleet is full or the id is taken.
  package func add(_ order: PhoneOrder) throws(SettingsError) -> NewPhone {
    try desk.add(order)
  }

  /// Adds a browser that the API can send Web Push to.
  ///
  /// - Throws: ``SettingsError`` for an order that cannot be; else why the API did not take it.
  package func add(_ order: BrowserOrder) throws -> NewBrowser { try browserDesk.add(order) }

  /// Compares every card with what the API says now.
  package func verdict() -> Verdict { desk.verdict() }
}

import Foundation
import Glibc
import Pipeline
import SQLiteStore
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

/// One installation that is struck again and again while people play on it.
final class ChaosRound {
  struct Plan {
    let seed: UInt64
    /// How many mutations are to be accepted.
    let mutations: Int
    /// Spread evenly over the mutations, in this order.
    let strikes: [Strike]
    /// APNs is slow, refuses, and loses connections all the time.
    let isAPNsIll: Bool
    /// What runs besides the simulator.
    var roles = Role.competing
    var players = 8
  }

  private static let rest: Duration = .seconds(180)
  private static let grace_s = 10

  let installation: Installation
  let record = PlayersRecord()
  private let plan: Plan
  /// Nil on the broker that all tests share; then no strike may be about the broker.
  private let node: PrivateBroker?
  private let brokerPort: UInt16
  private let proxy: FaultProxy
  private let collector: PushCollector
  private var report = RoundReport()

  init(_ plan: Plan) throws {
    self.plan = plan
    let struckNode = plan.strikes.contains { $0.what == .killBroker || $0.what == .freezeBroker }
    node = try struckNode ? Self.makeNode() : nil
    let broker = try BrokerUnderTest(url: node?.url, managementURL: node?.managementURL)
    installation = try Installation(broker: broker)
    brokerPort = try Self.port(in: broker.url)
    var links = [StrikeSchedule.playersLink: try Self.port(in: installation.apiURL)]
    for role in plan.roles { links[role.rawValue] = brokerPort }
    proxy = try FaultProxy(links: links)
    for role in plan.roles {
      let url = broker.url.replacing(
        ":\(brokerPort)/", with: ":\(proxy.port(of: role.rawValue))/")
      installation.roleSettings[role] = ["LOCKSTEP_AMQP_URL": url]
    }
    installation.settings["LOCKSTEP_SHUTDOWN_GRACE_SECONDS"] = "\(Self.grace_s)"
    try installation.useShortRungs()
    try installation.applyTopology()
    if node != nil { try installation.awaitKeptTopology() }
    try installation.start(.simulator)
    for role in plan.roles { try installation.launch(role) }
    for role in plan.roles { try installation.awaitReady(role) }
    collector = PushCollector(simulatorURL: installation.simulatorURL)
  }

  deinit { record.end() }

  private static func makeNode() throws -> PrivateBroker {
    try PrivateBroker { directory in
      try Data("collect_statistics_interval = 1000\n".utf8)
        .write(to: directory.appending(path: "extra.conf"))
    }
  }

  private static func port(in url: String) throws -> UInt16 {
    try #require(URLComponents(string: url)?.port.flatMap { UInt16(exactly: $0) }, "\(url)")
  }

  /// Plays and strikes, waits for rest, and checks.
  func run() throws -> RoundReport {
    let begun = ContinuousClock.now
    if plan.isAPNsIll { try installation.phones.setFaults(Self.illness) }
    let threads = play()
    let share = max(1, plan.mutations / (plan.strikes.count + 1))
    for (place, strike) in plan.strikes.enumerated() {
      record.allow(share * (place + 1))
      try installation.wait(for: "mutation \(share * place) (\(report.strikes.last ?? ""))") {
        record.accepted >= share * place
      }
      report.strikes.append("\(strike)")
      try perform(strike)
    }
    try bringBack()
    record.allow(plan.mutations)
    try installation.wait(for: "the last mutation", within: Self.rest) {
      record.accepted >= plan.mutations
    }
    record.end()
    try installation.wait(for: "the players to stop") { threads.allSatisfy(\.hasEnded) }
    try awaitRest()
    try check()
    report.took = .now - begun
    return report
  }

  private static let illness: JSONValue = [
    ["match": ["percent": 1], "action": "drop", "delivers": true],
    ["match": ["percent": 1], "action": "goaway"],
    ["match": ["percent": 1], "action": "reset"],
    [
      "match": ["percent": 3], "action": "answer", "status": 503, "reason": "ServiceUnavailable",
    ],
    ["match": ["percent": 40], "action": "delay", "delay_ms": 400],
  ]

  private func play() -> [OwnedThread] {
    let equipment = Player.Equipment(
      apiURL: "http://127.0.0.1:\(proxy.port(of: StrikeSchedule.playersLink))",
      phonesAPIURL: installation.apiURL, simulatorURL: installation.simulatorURL,
      keys: installation.keys, record: record)
    return (0..<plan.players).map { [seed = plan.seed] number in
      OwnedThread.start(named: "player-\(number)") {
        Player(number: number, seed: seed, equipment).run()
      }
    }
  }

  // MARK: Striking

  private func perform(_ strike: Strike) throws {
    switch strike.what {
    case .blow(let blow, let link, let reach):
      proxy.strike(blow, on: link, reach)
      hold(strike)
    case .conduct(let conduct, let link):
      proxy.set(conduct, on: link)
      hold(strike)
      proxy.set(.clear, on: link)
    case .kill(let role):
      installation.kill(role)
      hold(strike)
      try installation.launch(role)
    case .freeze(let role):
      installation.children[role]?.send(SIGSTOP)
      hold(strike)
      installation.children[role]?.send(SIGCONT)
    case .end(let role): try drain(role)
    case .killBroker:
      try node?.kill()
      hold(strike)
      try restartBroker()
    case .freezeBroker:
      try node?.freeze()
      hold(strike)
      try node?.thaw()
    }
  }

  private func hold(_ strike: Strike) { _ = becomesTrue(within: strike.lasts) { false } }

  private func drain(_ role: Role) throws {
    // One that has just been started does not hear of SIGTERM yet.
    try installation.awaitReady(role)
    let begun = ContinuousClock.now
    let code = try installation.end(role)
    report.drains.append(.now - begun)
    if code != 0 { report.findings.append("\(role.rawValue) ended with \(code)") }
    try installation.launch(role)
  }

  /// From the moment it takes connections until the next push comes to a phone.
  private func restartBroker() throws {
    let directory = try #require(node?.directory)
    let starter = OwnedThread.start(named: "broker-start") {
      PrivateBroker.start(in: directory)
    }
    var accepting: UnixTime?
    try installation.wait(for: "the broker to accept connections") {
      if Sockets.accepts(brokerPort) { accepting = SystemTime().now() }
      return accepting != nil
    }
    let since = try #require(accepting)
    // However few were allowed for this strike: without a mutation no push would come.
    record.allow(record.accepted + plan.players)
    try installation.wait(for: "a push after the broker's return") {
      guard let next = collector.pushes.first(where: { $0.isTaken && $0.at > since })
      else { return false }
      report.recoveries.append(next.at - since)
      return true
    }
    try installation.wait(for: "the broker's start to end") { starter.hasEnded }
  }

  private func bringBack() throws {
    proxy.set(.clear, on: nil)
    try installation.phones.setFaults([])
    for role in plan.roles { try installation.awaitReady(role) }
  }

  // MARK: Afterwards

  /// Nothing waits anywhere and every phone shows the truth, twice in a row: the broker's own
  /// figures are a second old.
  private func awaitRest() throws {
    var verdict = JSONValue.null
    var waiting = ""
    var quiet = 0
    let isQuiet = becomesSeen(within: Self.rest, every: .seconds(1)) {
      do {
        waiting = try installation.waitingMessages().map { "\($0.key) \($0.value)" }.sorted()
          .joined(separator: ", ")
        verdict = try installation.phones.verdict()
        let isTrue =
          verdict["different"] == 0 && verdict["missing"] == 0 && verdict["calls_waiting"] == 0
          && verdict["unknown"] == .array([])
        quiet = waiting.isEmpty && isTrue ? quiet + 1 : 0
      } catch {
        waiting = "\(error)"
        quiet = 0
      }
      return quiet >= 3
    }
    report.compared = verdict["compared"]?.whole ?? 0
    report.different = (verdict["different"]?.whole ?? 0) + (verdict["missing"]?.whole ?? 0)
    if !isQuiet {
      let text = String(decoding: verdict.encoded, as: UTF8.self)
      report.findings.append("no rest: \(waiting); \(text.prefix(2000))")
    }
  }

  private func check() throws {
    let pushes = collector.pushes
    if collector.missed > 0 { report.findings.append("\(collector.missed) pushes not collected") }
    let store = try SQLiteStore(
      lookingAt: installation.directory.appending(path: "lockstep.sqlite")
        .path(percentEncoded: false))
    let sessions = Set(record.sessions + record.calls.map(\.session) + pushes.compactMap(\.session))
    let traces = try sessions.filter { !$0.isEmpty }.sorted().compactMap { id in
      try store.read { rows -> LedgerCheck.Trace? in
        let session = SessionID(id)
        let mutations = try rows.mutations(of: session)
        guard !mutations.isEmpty else { return nil }
        return LedgerCheck.Trace(
          id: id, mutations: mutations, builds: try rows.builds(of: session),
          deliveries: try rows.deliveries(of: session))
      }
    }
    report.ledger = LedgerCheck(calls: record.calls, traces: traces, pushes: pushes)
    report.pushes = pushes.count
    if let longest = report.drains.max(), longest >= .seconds(Self.grace_s) {
      report.findings.append("a drain took \(longest)")
    }
  }
}

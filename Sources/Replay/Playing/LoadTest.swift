import Activities
import Foundation
import Pipeline
import ServiceRuntime
import Vocabulary

/// One run from a recording to its verdict: makes the phones, plays, waits until nothing waits any
/// more, and compares what every phone shows with what was accepted.
package final class LoadTest {
  package struct Settings {
    package var path: String
    package var pace: Pace
    package var names: RunNames
    package var eventsExchange: String
    package var simulatorURL: String
    package var apiURL: String
    /// Of the activities that this installation serves; others are not played.
    package var contracts = ContractCatalog.builtIn
    /// Events passed over at the begin.
    package var resumeFrom = 0
    /// No event is played later than this after the begin; nil plays all.
    package var playingMax: Duration?
    /// How long the queues may take to run empty afterwards.
    package var drainMax: Duration = .seconds(300)
    /// Queues that must run empty before the verdict.
    package var queues: Set<String> = []
    /// Whether the phones stay at the end when events are left to play, for a run that goes on.
    package var canResume = true
    /// By name, to look at what they take.
    package var processes: [String: Int32] = [:]

    package init(
      path: String, pace: Pace, names: RunNames, eventsExchange: String, simulatorURL: String,
      apiURL: String
    ) {
      self.path = path
      self.pace = pace
      self.names = names
      self.eventsExchange = eventsExchange
      self.simulatorURL = simulatorURL
      self.apiURL = apiURL
    }
  }

  /// What a run needs of the outside.
  package struct Equipment {
    package let publisher: any Publisher
    package let depths: DepthLook
    /// Nil when the store cannot be looked at.
    package let fates: StoredFates?
    /// Mints a token that the API takes, for a user.
    package let token: @Sendable (UserID) -> String
    package let time: any TimeSource
    package let log: Log

    package init(
      publisher: any Publisher, depths: @escaping DepthLook,
      fates: StoredFates?, token: @escaping @Sendable (UserID) -> String, time: any TimeSource,
      log: Log
    ) {
      self.publisher = publisher
      self.depths = depths
      self.fates = fates
      self.token = token
      self.time = time
      self.log = log
    }
  }

  /// What is told while a run goes on.
  package enum Step {
    case read(RecordingSummary)
    case phones(Int, of: Int)
    case playing(events: Int, elapsed: Duration)
    case draining(behind: Int, waiting: Int)
  }

  private static let cardsPage = 1000
  /// Who stopped a run does not want to wait for long.
  private static let drainMaxWhenStopped: Duration = .seconds(60)

  private let settings: Settings
  private let equipment: Equipment
  private let tell: (Step) -> Void
  private var time: any TimeSource { equipment.time }

  package init(_ settings: Settings, _ equipment: Equipment, tell: @escaping (Step) -> Void) {
    self.settings = settings
    self.equipment = equipment
    self.tell = tell
  }

  /// When all is played, the run's phones leave the simulator: it holds only so many.
  ///
  /// - Returns: the report; after a stop, that of what was played.
  /// - Throws: ``RecordingUnreadable``, ``PhonesRefused`` before anything is played, or why the
  ///   simulator cannot be used.
  package func run(until stop: StopSignal) throws -> LoadTestReport {
    let summary = try RecordingSummary(path: settings.path, contracts: settings.contracts)
    tell(.read(summary))
    let control = SimulatorControl(url: settings.simulatorURL)
    let before = try control.tally()
    let phones = try makePhones(summary.phones, until: stop)
    try awaitCalls(control, until: stop)
    let book = RunBook(begunAt: time.now())
    let watch = PushWatch(
      simulatorURL: settings.simulatorURL, after: try control.tally().newestPush,
      names: settings.names, book: book, time: time, log: equipment.log)
    let sampler = Sampler(
      book: book, processes: settings.processes, time: time, depths: equipment.depths)
    let ended = StopSignal()
    let threads = [
      OwnedThread.start(named: "push-watch") { watch.run(until: ended) },
      OwnedThread.start(named: "sampler") { sampler.run(until: ended) },
    ]
    defer {
      ended.raise()
      while threads.contains(where: { !$0.hasEnded }) { Poll.wait([], atMost: .milliseconds(20)) }
    }
    let begun = time.elapsed()
    let player = Player(
      pace: settings.pace, names: settings.names, contracts: settings.contracts,
      publisher: equipment.publisher, exchange: settings.eventsExchange, book: book, time: time,
      log: equipment.log
    ) { [tell, time] in tell(.playing(events: $0.confirmed, elapsed: time.elapsed() - begun)) }
    // What is wrong with the file was told by the summary.
    try player.play(
      RecordingReader(path: settings.path) { _ in }, from: settings.resumeFrom,
      atMost: settings.playingMax, until: stop)
    let playedFor = time.elapsed() - begun
    let drainMax =
      stop.isRaised ? min(settings.drainMax, Self.drainMaxWhenStopped) : settings.drainMax
    let drainedAfter = try drain(control, watch, book, atMost: drainMax).map {
      max(playedFor, $0 - begun)
    }
    let report = LoadTestReport(
      settings, summary: summary, phones: phones, position: player.position, book: book,
      playedFor: playedFor, drainedAfter: drainedAfter,
      verdict: try verdict(control, book, summary, before: before),
      storeTrouble: equipment.fates?.trouble, wasStopped: stop.isRaised)
    if report.resumeFrom == nil || !settings.canResume {
      try control.removePhones(ofUsersWith: settings.names.userPrefix)
    }
    return report
  }

  private func makePhones(_ phones: [RecordedPhone], until stop: StopSignal) throws
    -> PhoneMaking.Report
  {
    let making = PhoneMaking(
      simulatorURL: settings.simulatorURL, apiURL: settings.apiURL, names: settings.names,
      token: equipment.token)
    let report = making.make(phones, until: stop) { tell(.phones($0, of: phones.count)) }
    // A person without the phone that the recording gives them would count as one who lost.
    guard let refusal = report.refusal else { return report }
    throw PhonesRefused(
      refused: report.refused, wanted: phones.count, refusal: refusal,
      run: settings.names.run)
  }

  /// Tokens that the API has not heard of yet would make a late begin of every session.
  private func awaitCalls(_ control: SimulatorControl, until stop: StopSignal) throws {
    let end = time.elapsed() + settings.drainMax
    while try control.tally().callsWaiting > 0, time.elapsed() < end {
      guard !stop.wait(atMost: .milliseconds(100)) else { return }
    }
  }

  /// Waits until nothing waits in any queue, phones have made their calls, and no push has come for
  /// two seconds.
  ///
  /// - Returns: since when nothing waited and nothing came; nil when it took too long.
  private func drain(
    _ control: SimulatorControl, _ watch: PushWatch, _ book: RunBook, atMost limit: Duration
  ) throws -> Duration? {
    let end = time.elapsed() + limit
    var emptySince: Duration?
    while time.elapsed() < end {
      let waiting = book.read { pages in
        pages.depthsNow.reduce(0) { $0 + (settings.queues.contains($1.key) ? $1.value : 0) }
      }
      let calls = try control.tally().callsWaiting
      let behind = book.read { $0.ledger.behind }
      tell(.draining(behind: behind, waiting: waiting + calls))
      if waiting == 0, calls == 0 {
        let since = emptySince ?? time.elapsed()
        emptySince = since
        let isQuiet = time.elapsed() - since >= .seconds(2) && watch.quiet >= .seconds(2)
        // Where a card is behind, its push may be in a sender's hand: a little longer.
        if isQuiet, behind == 0 || time.elapsed() - since >= .seconds(15) {
          return max(since, time.elapsed() - watch.quiet)
        }
      } else {
        emptySince = nil
      }
      Poll.wait([], atMost: .milliseconds(250))
    }
    return nil
  }
}

// MARK: The verdict

extension LoadTest {
  private func verdict(
    _ control: SimulatorControl, _ book: RunBook, _ summary: RecordingSummary,
    before: SimulatorControl.Tally
  ) throws -> LedgerVerdict {
    let ledger = book.read { $0.ledger }
    let shown = try shown(control, ledger)
    let tally = try control.tally()
    // Second starts are counted by the ledger itself.
    let doubled = tally.complaints.filter { complaint in
      ["doubled-alert", "doubled-sound"].contains(complaint.rule)
        && complaint.phone.flatMap(settings.names.user(ofPhone:)) != nil
    }
    let fates = equipment.fates
    let names = settings.names
    let cardless = Set(summary.users.filter { !$0.canStart }.map { names.user($0.user) })
    let appless = summary.appless.mapValues { Set($0.map(names.user)) }
    var verdict = ledger.verdict(
      shown: { shown[$0]?[$1] }, fate: { fates?.fate(of: $0, $1, $2) }, cardless: cardless,
      without: { appless[$0]?.contains($1) == true }, doubled: doubled.count)
    for complaint in doubled {
      verdict.fault(SessionID(""), UserID(complaint.phone ?? ""), complaint.detail)
    }
    verdict.complaints = tally.complaintCount - before.complaintCount
    return verdict
  }

  /// What every card of the run shows, by session and user.
  private func shown(_ control: SimulatorControl, _ ledger: Ledger) throws
    -> [SessionID: [UserID: Ledger.Shown]]
  {
    var shown: [SessionID: [UserID: Ledger.Shown]] = [:]
    var place = 0
    while true {
      let page = try control.cards(from: place, atMost: Self.cardsPage)
      guard page.phones > 0 else { return shown }
      place += page.phones
      for card in page.cards {
        guard let user = settings.names.user(ofPhone: card.phone) else { continue }
        let session = SimulatorControl.subject(card.session)
        let rev = card.state.map { ledger.rev(showing: $0, of: session, user) } ?? card.rev
        let isLive = card.standing == "active" || card.standing == "stale"
        guard shown[session]?[user].map({ $0.rev <= rev }) ?? true else { continue }
        shown[session, default: [:]][user] = Ledger.Shown(rev: rev, isLive: isLive)
      }
    }
  }
}

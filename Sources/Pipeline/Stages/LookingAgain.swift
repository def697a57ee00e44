import Pushes
import Vocabulary

/// The last look: what the store knows of jobs that are about to go out.
extension APNsSender {
  /// One for each job of a ``Choice``, in its order.
  struct Looks {
    let going: ArraySlice<SendKnowledge>
    let parked: ArraySlice<SendKnowledge>
  }

  /// Looks at what goes and what is parked, and holds the starts that go.
  ///
  /// - Throws: ``StoreError``; then no start is held.
  func lookAgain(_ choice: Choice, now: UnixTime) throws -> Looks {
    let works = (choice.going + choice.parked.map(\.sending)).map(\.work)
    let starts = choice.going.indices.filter { works[$0].job.event == .start }
    let known = try known(of: works, holding: starts, now: now)
    return Looks(
      going: known.prefix(choice.going.count), parked: known.dropFirst(choice.going.count))
  }

  private func known(of works: [Work], holding starts: [Int], now: UnixTime) throws
    -> [SendKnowledge]
  {
    guard !works.isEmpty else { return [] }
    // Holding a start writes; everything else only reads.
    if starts.isEmpty { return try store.read { try self.known(of: works, in: $0, now: now) } }
    return try store.write { transaction in
      var known = try self.known(of: works, in: transaction, now: now)
      for place in starts {
        let job = works[place].job
        if known[place].hasCard {
          try transaction.acceptStart(of: job.sessionID, token: job.token, at: now)
        }
        known[place].start = try transaction.start(of: job.sessionID, token: job.token)
        if case .send = SendDecision(job, knowing: known[place], now: now) {
          try transaction.claimStart(
            of: job.sessionID, token: job.token, until: Self.startHold.end(from: now))
        }
      }
      return known
    }
  }

  private func known(of works: [Work], in transaction: any StoreTransaction, now: UnixTime) throws
    -> [SendKnowledge]
  {
    var known = try transaction.standings(of: works.map { ($0.job.token, $0.job.contextKey) })
      .map { SendKnowledge(standing: $0) }
    // Most jobs are updates, of which nothing more need be known.
    let others = works.indices.filter { works[$0].job.event != .update }
    guard !others.isEmpty else { return known }
    let jobs = others.map { works[$0].job }
    let starts = jobs.filter { $0.event == .start }
    let dismissed = try transaction.dismissed(among: starts.compactMap(\.contextKey))
    let cards = try transaction.updateTokens(of: starts.compactMap(\.contextKey))
    let alerts = jobs.filter { $0.event == .alert }
    let resolved = try transaction.resolvedKeys(among: alerts.compactMap(\.dedupeKey))
    let unanswered = try transaction.unansweredJobs(among: alerts.map(\.id))
    let accepted = try transaction.acceptedJobs(
      among: jobs.filter { !$0.isLiveActivity }.map(\.id) + alerts.compactMap(\.resolveID))
    for (place, job) in zip(others, jobs) {
      known[place].isDismissed =
        job.event == .start && (job.contextKey.map(dismissed.contains) ?? false)
      if job.event == .start, let context = job.contextKey {
        known[place].cards = cards[context] ?? []
        if let registration = known[place].standing.registrations.first(where: job.isMeant) {
          known[place].earlierStart = try EarlierStart.find(
            before: job, to: registration, in: transaction, now: now)
        }
      }
      known[place].isResolved =
        job.event == .alert && (job.dedupeKey.map(resolved.contains) ?? false)
      known[place].isUnanswered = job.event == .alert && unanswered.contains(job.id)
      known[place].isAccepted = !job.isLiveActivity && accepted.contains(job.id)
      known[place].isTakenBack =
        job.event == .alert && (job.resolveID.map(accepted.contains) ?? false)
    }
    return known
  }
}

extension PushJob {
  /// Of an alert: of the job that takes it back.
  fileprivate var resolveID: String? {
    dedupeKey.map { PushJob.resolveID($0, on: token) }
  }
}

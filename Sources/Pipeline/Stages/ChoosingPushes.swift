import Pushes
import Vocabulary

/// Which of the waiting jobs go next, and which give up their place.
extension APNsSender {
  /// What is done about jobs that waited.
  struct Choice {
    /// Go out now, unless the last look says otherwise; no token twice.
    var going: [Sending] = []
    /// Must wait and hold a place for nothing.
    var parked: [(sending: Sending, wait: Duration)] = []
    /// A newer state for the same token waits beside it.
    var outdone: [(sending: Sending, rev: Int)] = []

    var isEmpty: Bool { going.isEmpty && parked.isEmpty && outdone.isEmpty }

    var all: [Sending] { outdone.map(\.sending) + going + parked.map(\.sending) }

    /// What becomes of those that do not go, before anybody asks whether they went out earlier.
    /// What is no longer worth sending is not parked.
    ///
    /// `known`: of each that is parked.
    func drops(knowing known: some Sequence<SendKnowledge>, now: UnixTime)
      -> [(sending: Sending, disposition: Disposition)]
    {
      let older = outdone.map { sending, rev in
        (
          sending,
          Disposition.superseded(
            because: "rev \(rev) for the same token waits beside \(sending.job.rev)")
        )
      }
      return older
        + zip(parked, known).map { parked, known in
          (
            parked.sending,
            disposition(of: parked.sending.job, parked.wait, knowing: known, now: now)
          )
        }
    }

    private func disposition(
      of job: PushJob, _ wait: Duration, knowing known: SendKnowledge, now: UnixTime
    ) -> Disposition {
      switch SendDecision(job, knowing: known, now: now) {
      // An alert's end may need words to the device: that is for its own turn to find out.
      case .drop(let disposition) where job.isLiveActivity && disposition.isFinal: disposition
      case .drop, .send: .park(notBefore: wait)
      }
    }
  }

  /// Takes out of `waiting` what may go now (its token is free, its lane closed or due a probe) and
  /// what gives up its place: all but a few of an open lane, starts over a phone's budget, and
  /// states that a newer one for the same token has overtaken.
  func chooseWaiting(atMost count: Int, now: UnixTime) -> Choice {
    var choice = Choice()
    guard !waiting.isEmpty, count > 0 || memory.lanes.hasOpenLanes else { return choice }
    var kept: [Sending] = []
    var places = Places()
    for (index, sending) in waiting.enumerated() {
      if choice.going.count >= count, !memory.lanes.hasOpenLanes {
        kept += waiting[index...]
        break
      }
      let job = sending.job
      if job.event == .start, let wait = starts.wait(for: job.token, now: now) {
        choice.parked.append((sending, wait))
      } else if let place = places[job] {
        overtake(sending, at: place, &choice, &kept, &places, now: now)
      } else if busyTokens.contains(job.token) {
        keep(sending, &choice, &kept, &places, now: now)
      } else if choice.going.count < count,
        memory.lanes.permission(on: sending.lane, now: now) != .wait
      {
        places[job] = .going(choice.going.count)
        choice.going.append(sending)
      } else {
        keep(sending, &choice, &kept, &places, now: now)
      }
    }
    waiting = kept
    return choice
  }

  /// Where the first job seen of a token is, and how many of each open lane are kept.
  private struct Places {
    enum Place { case going(Int), kept(Int) }
    private var places: [PushToken: Place] = [:]
    var held: [Lane: Int] = [:]

    subscript(job: PushJob) -> Place? {
      get { places[job.token] }
      set { places[job.token] = newValue }
    }
  }

  private func keep(
    _ sending: Sending, _ choice: inout Choice, _ kept: inout [Sending], _ places: inout Places,
    now: UnixTime, isFirst: Bool = true
  ) {
    if memory.lanes.isOpen(sending.lane) {
      guard places.held[sending.lane, default: 0] < LaneBook.probesInHandMax else {
        let wait = memory.lanes.parkTime(on: sending.lane, now: now)
        return choice.parked.append((sending, wait))
      }
      places.held[sending.lane, default: 0] += 1
    }
    if isFirst { places[sending.job] = .kept(kept.count) }
    kept.append(sending)
  }

  /// Two wait for one token: of two states of one activity the newer one is enough.
  private func overtake(
    _ sending: Sending, at place: Places.Place, _ choice: inout Choice, _ kept: inout [Sending],
    _ places: inout Places, now: UnixTime
  ) {
    let first =
      switch place {
      case .going(let index): choice.going[index]
      case .kept(let index): kept[index]
      }
    guard sending.lane == first.lane, sending.job.isState(ofSameActivityAs: first.job) else {
      return keep(sending, &choice, &kept, &places, now: now, isFirst: false)
    }
    guard sending.job.rev > first.job.rev else {
      choice.outdone.append((sending, first.job.rev))
      return
    }
    choice.outdone.append((first, sending.job.rev))
    switch place {
    case .going(let index): choice.going[index] = sending
    case .kept(let index): kept[index] = sending
    }
  }
}

extension PushJob {
  /// Both are full states of one activity for one token, so that the newer replaces the older.
  fileprivate func isState(ofSameActivityAs other: PushJob) -> Bool {
    isState && other.isState && token == other.token && contextKey == other.contextKey
      && rev != other.rev
  }
}

extension Disposition {
  /// The delivery is over with it.
  var isFinal: Bool {
    switch self {
    case .done, .stale, .superseded, .expired, .dead: true
    case .retry, .park, .handBack: false
    }
  }
}

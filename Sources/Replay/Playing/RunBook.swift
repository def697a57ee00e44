import Pipeline
import Sessions
import Synchronization
import Vocabulary

/// What the threads of one run write down: the ledger, and how it went over time.
package final class RunBook: Sendable {
  struct Pages: Sendable {
    var ledger = Ledger()
    /// By second of the run in which the push came.
    var latencies = TimeSlots<LatencyHistogram> { earlier, later in
      var both = earlier
      both.add(later)
      return both
    }
    var allLatencies = LatencyHistogram()
    var catchingUp = LatencyHistogram()
    var published = TimeSlots<Int> { $0 + $1 }
    var pushes = TimeSlots<Int> { $0 + $1 }
    var pushCount = 0
    var republished = 0
    var refused = 0
    var pushesMissed = 0
    /// What the initiator of a session shows first, until its partner's card begins.
    var ownCards: [SessionID: SimulatorControl.OwnCard] = [:]
    var depths = TimeSlots<[String: Int]> { earlier, later in
      earlier.merging(later) { max($0, $1) }
    }
    var depthsNow: [String: Int] = [:]
    var usage = TimeSlots<[String: ProcessUsage]> { $1.merging($0) { later, _ in later } }
  }

  let begunAt: UnixTime
  private let pages = Mutex(Pages())

  package init(begunAt: UnixTime) { self.begunAt = begunAt }

  func read<Value: Sendable>(_ body: (Pages) -> Value) -> Value { pages.withLock { body($0) } }

  func change(_ body: (inout Pages) -> Void) { pages.withLock { body(&$0) } }

  func seconds(_ moment: UnixTime) -> Double { (moment - begunAt).secondsAndFraction }

  /// Events that the broker confirmed.
  func accepted(_ count: Int, at moment: UnixTime) {
    change { pages in
      pages.ledger.accepted(count)
      pages.published.change(at: seconds(moment), empty: 0) { $0 += count }
    }
  }

  /// Events that are about to be published.
  func offered(_ events: [PlayedEvent]) {
    change { pages in
      for event in events {
        guard let offer = event.offer else { continue }
        if case .session(let session) = event.subject, let first = session.initiator,
          pages.ledger.sessions[session.id] == nil
        {
          pages.ownCards[session.id] = SimulatorControl.OwnCard(
            attributes: session.attributes(for: first.userID),
            contentState: session.contentState(for: first.userID, language: .german),
            staleAt: session.expiresAt)
        }
        pages.ledger.offered(offer, at: event.happenedAt)
      }
    }
  }

  /// A push that the stand-in for APNs answered with 200.
  ///
  /// - Returns: the card that the initiator's app starts now, as it would when it is opened.
  func saw(_ sighting: Ledger.Sighting) -> (UserID, SimulatorControl.OwnCard)? {
    var own: (UserID, SimulatorControl.OwnCard)?
    change { pages in
      pages.pushCount += 1
      pages.pushes.change(at: seconds(sighting.at), empty: 0) { $0 += 1 }
      switch pages.ledger.saw(sighting) {
      case .direct(let delay):
        let milliseconds = Double(delay.milliseconds)
        pages.allLatencies.add(milliseconds)
        pages.latencies.change(at: seconds(sighting.at), empty: LatencyHistogram()) {
          $0.add(milliseconds)
        }
      case .catchingUp(let delay): pages.catchingUp.add(Double(delay.milliseconds))
      case nil: break
      }
      if sighting.kind == .start,
        let user = pages.ledger.initiatorWithoutCard(of: sighting.session),
        let card = pages.ownCards.removeValue(forKey: sighting.session)
      {
        pages.ledger.startedLocally(sighting.session, user, at: sighting.at)
        own = (user, card)
      }
    }
    return own
  }
}

/// What one process takes of the machine.
package struct ProcessUsage: Hashable, Sendable, Codable {
  /// Of one core, 1 is all of it.
  package let cpu: Double
  /// Megabytes of memory in use.
  package let megabytes: Double

  package init(cpu: Double, megabytes: Double) {
    self.cpu = cpu
    self.megabytes = megabytes
  }
}

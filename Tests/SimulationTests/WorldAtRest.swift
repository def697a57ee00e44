import Foundation
import Pipeline
import Simulator
import TestSupport
import Vocabulary

// The end of a world: faults stop, and it goes on until nothing is left to do.
extension World {
  func stopFaults() {
    chaos.isOn = false
    clock.set(ahead: .zero)
    if !cast.contains(.slowWays) { others?.ids.forEach { others?.goOnline($0) } }
    broker.isDown = false
    broker.isBlocked = false
    broker.refusal = { _ in nil }
    airwaves.fleet.phoneIDs.forEach(airwaves.goOnline)
  }

  /// Goes on without faults until nothing is left to do.
  ///
  /// - Returns: false when it does not come to rest.
  func settle() -> Bool {
    for _ in 0..<Self.turnsMax {
      var happened = people.callAgain()
      happened = people.phoneCalls() || happened
      happened = people.startOwnCard() || happened
      happened = shop?.bindUnbound() ?? false || happened
      for place in processes.indices { happened = turn(place) || happened }
      if happened { continue }
      if let wait = nextDue() {
        pass(wait)
        continue
      }
      guard let others, let away = others.ids.first(where: { !others.isOnline($0) }) else {
        return true
      }
      others.goOnline(away)
    }
    return false
  }

  /// How long until something may happen; nil when all is quiet.
  func nextDue() -> Duration? {
    let waiting = (try? tables.read { try $0.outboxDepth().events }) ?? 0
    var dues = [airwaves.ether.nextDue, broker.nextDue, others?.ether.nextDue].compactMap(\.self)
      .map { $0 - time.elapsed() }
    if waiting > 0 { dues.append(OutboxRelay.lease) }
    // Behind an open lane, until the next probe.
    if processes.contains(where: { $0.inHand > 0 }) { dues.append(.seconds(15)) }
    return dues.min().map { max($0, .milliseconds(1)) }
  }
}

// MARK: For the invariants

extension World {
  func look<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    try tables.read(body)
  }

  /// Of a world that has some.
  var reachedOtherwise: OtherPhones {
    guard let others else { preconditionFailure("this world has iPhones alone") }
    return others
  }

  var inHand: Int { processes.reduce(0) { $0 + $1.inHand } }
}

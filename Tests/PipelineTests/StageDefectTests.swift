import Foundation
import Pipeline
import ServiceRuntime
import Synchronization
import TestSupport
import Testing
import Vocabulary

/// Mistakes in a stage, and alarms of the broker: what the loop does when waiting does not help.
@Suite struct StageDefectTests {
  private struct Mistake: Error, CustomStringConvertible { let description = "index out of range" }

  private let time = ManualTime()
  private let broker: FakeBroker
  private let link: FakeLink
  private let stage = StubStage()
  private let worker: Worker
  private let health = Health()

  init() {
    broker = FakeBroker(time: time)
    link = broker.link(to: .apns)
    worker = Worker(
      route: Samples.routes[.apns], link: link, stage: stage, time: time, log: .discarding,
      metrics: Metrics(), health: health)
  }

  private func put(_ ids: String...) {
    for id in ids {
      let message = Message(id: id, type: "t", contentType: "c", body: Data())
      broker.put(message, into: "apns", exchange: "apns", key: "apns")
    }
  }

  @Test func `a delivery that breaks the stage is dead, the others of its batch are done`() throws {
    put("a", "bad", "c")
    var done: [String] = []
    stage.onTake = { deliveries in
      if deliveries.contains(where: { $0.message.id == "bad" }) { throw Mistake() }
      done += deliveries.map(\.message.id)
      return deliveries.map { Settlement($0, .done) }
    }
    #expect(try worker.turn())
    #expect(done == ["a", "c"])
    let dead = broker.messages(in: "dead.apns")
    #expect(dead.map(\.id) == ["bad"])
    #expect(dead.first?.text("x-last-error") == "the stage failed: index out of range")
    #expect(link.unsettledCount == 0)
    #expect(health.readiness == .ok, "the store is not away")
  }

  @Test func `a store that goes while a batch is offered one by one keeps the rest in hand`()
    throws
  {
    put("a", "b", "c")
    var isAway = true
    stage.onTake = { deliveries in
      if deliveries.count > 1, isAway { throw Mistake() }
      if deliveries[0].message.id == "b", isAway { throw StoreError("disk full") }
      return deliveries.map { Settlement($0, .done) }
    }
    _ = try worker.turn()
    #expect(worker.inHand == 2)
    #expect(health.readiness == .notReady(["store: disk full"]))
    isAway = false
    #expect(try worker.turn())
    #expect(stage.taken.suffix(2).map(\.message.id) == ["b", "c"])
    #expect(link.unsettledCount == 0)
    #expect(broker.violations.isEmpty)
  }

  @Test func `a mistake that is no delivery's fault ends the worker, and nothing is lost`() throws {
    put("a", "b")
    stage.onTake = { deliveries in
      stage.held += deliveries
      return []
    }
    stage.onAdvance = { throw Mistake() }
    let stop = StopSignal()
    worker.run(until: stop, grace: .seconds(5))
    #expect(worker.defect == "stage apns: index out of range")
    #expect(broker.messages(in: "apns").map(\.id) == ["a", "b"], "handed back")
    #expect(!stop.isRaised)
  }

  @Test func `an alarm in the middle of a window costs no delivery and sends nothing twice`() throws
  {
    put("a", "b", "c")
    stage.onTake = { deliveries in
      deliveries.map { delivery in
        delivery.message.id == "c"
          ? Settlement(delivery, .done)
          : Settlement(delivery, .retry(notBefore: .zero, because: "503"))
      }
    }
    broker.blocksOnPublish = true
    #expect(try worker.turn(), "c waits for no confirm")
    #expect(link.unsettledCount == 2)
    put("d")
    for _ in 0..<100 {
      _ = try worker.turn()
      time.advance(by: .seconds(20))
    }
    #expect(link.generation == 1, "the connection stays: no delivery was counted as returned")
    #expect(worker.brokerTrouble == nil)
    broker.isBlocked = false
    _ = try worker.turn()
    #expect(link.unsettledCount == 0)
    // The same messages are offered again, so that the publisher knows them.
    let copies = link.windows.flatMap(\.self).filter { $0.message.id == "a" }
    #expect(copies.count == 1)
    #expect(broker.violations.isEmpty)
  }

  @Test func `a stage that holds the thread too long is noticed, one that returns is not`() throws {
    put("a")
    let overdue = Overdue()
    let clock = time
    let watchdog = Watchdog(elapsed: { clock.elapsed() }, onOverdue: { overdue.note($0) })
    let watched = Worker(
      route: Samples.routes[.apns], link: link, stage: stage, time: time, log: .discarding,
      metrics: Metrics(), watchdog: watchdog)
    stage.onTake = { deliveries in
      clock.advance(by: .seconds(60))
      watchdog.look()
      #expect(overdue.calls.isEmpty)
      clock.advance(by: .milliseconds(1))
      watchdog.look()
      return deliveries.map { Settlement($0, .done) }
    }
    _ = try watched.turn()
    #expect(overdue.calls == ["stage apns"])
    clock.advance(by: .seconds(3600))
    watchdog.look()
    #expect(overdue.calls.count == 1)
  }
}

/// What a watchdog said.
private final class Overdue: Sendable {
  private let said = Mutex<[String]>([])
  var calls: [String] { said.withLock { $0 } }
  func note(_ call: String) { said.withLock { $0.append(call) } }
}

import Foundation
import Pipeline
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

@Suite struct DrainTests {
  private let time = ManualTime()
  private let broker: FakeBroker
  private let link: FakeLink
  private let stage = StubStage()
  private let worker: Worker

  init() {
    broker = FakeBroker(time: time)
    link = broker.link(to: .apns)
    worker = Worker(
      route: Samples.routes[.apns], link: link, stage: stage, time: time, log: .discarding,
      metrics: Metrics())
  }

  private func put(_ ids: String...) {
    for id in ids {
      let message = Message(id: id, type: "t", contentType: "c", body: Data())
      broker.put(message, into: "apns", exchange: "apns", key: "apns")
    }
  }

  @Test func `draining finishes what is in hand and takes nothing new`() throws {
    put("a")
    stage.onTake = { deliveries in
      stage.held += deliveries
      return []
    }
    _ = try worker.turn()
    put("b")
    worker.drain(grace: .seconds(5)) { _ in
      time.advance(by: .seconds(1))
      let held = stage.held
      stage.onAdvance = {
        stage.held = []
        return held.map { Settlement($0, .done) }
      }
    }
    #expect(broker.messages(in: "apns").map(\.id) == ["b"])
    #expect(stage.taken.count == 1)
  }

  @Test func `after the grace the rest goes back, and no attempt is counted`() throws {
    put("a", "b")
    stage.onTake = { deliveries in
      stage.held += deliveries
      return []
    }
    _ = try worker.turn()
    worker.drain(grace: .seconds(5)) { time.advance(by: $0) }
    #expect(broker.messages(in: "apns").map(\.id) == ["a", "b"])
    #expect(broker.messages(in: "apns").allSatisfy { $0.integer("x-attempt") == nil })
    #expect(broker.violations.isEmpty)
  }

  @Test func `a batch that waits for the store is handed back, or finished when the store is back`()
    throws
  {
    for storeComesBack in [true, false] {
      put("a")
      stage.onTake = { _ in throw StoreError("disk full") }
      _ = try worker.turn()
      worker.drain(grace: .seconds(5)) { wait in
        time.advance(by: wait)
        if storeComesBack { stage.onTake = { $0.map { Settlement($0, .done) } } }
      }
      #expect(broker.messages(in: "apns").count == (storeComesBack ? 0 : 1))
    }
    #expect(broker.violations.isEmpty)
  }

  @Test func `a broker that goes while draining ends the drain`() throws {
    put("a")
    stage.onTake = { deliveries in
      stage.held += deliveries
      return []
    }
    _ = try worker.turn()
    worker.drain(grace: .seconds(5)) { _ in broker.loseConnections() }
    #expect(broker.messages(in: "apns").map(\.id) == ["a"])
  }

  @Test func `the loop runs until it is told to stop, then drains`() {
    put("a")
    let stop = StopSignal()
    stage.onTake = { deliveries in
      stop.raise()
      return deliveries.map { Settlement($0, .done) }
    }
    worker.run(until: stop, grace: .seconds(1))
    #expect(broker.messages(in: "apns").isEmpty)
    #expect(link.unsettledCount == 0)
  }
}

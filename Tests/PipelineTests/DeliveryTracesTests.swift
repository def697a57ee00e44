import Foundation
import Pipeline
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

@Suite struct DeliveryTracesTests {
  private static let caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
  private let time = ManualTime()
  private let broker: FakeBroker
  private let link: FakeLink
  private let stage = StubStage()
  private let tracer = Tracer(metrics: Metrics())
  private let worker: Worker

  init() {
    broker = FakeBroker(time: time)
    link = broker.link(to: .apns)
    worker = Worker(
      route: Samples.routes[.apns], link: link, stage: stage, time: time, log: .discarding,
      metrics: Metrics(), tracer: tracer)
  }

  private func message(_ id: String, _ traceparent: String? = caller) -> Message {
    Message(
      id: id, type: "t", contentType: "c",
      headers: traceparent.map { ["traceparent": .text($0)] } ?? [:], body: Data())
  }

  private func put(_ id: String, _ traceparent: String? = caller) {
    broker.put(message(id, traceparent), into: "apns", exchange: "apns", key: "apns")
  }

  @Test func `What a delivery causes is a child of its step, and the step of its cause`() throws {
    put("a")
    stage.onTake = { deliveries in
      deliveries.map { delivery in
        self.time.advance(by: .milliseconds(7))
        let next = OutgoingMessage(
          exchange: "build", routingKey: "build", message: self.message("next"))
        return Settlement(delivery, .done, outgoing: [next])
      }
    }
    #expect(try worker.turn())
    let span = try #require(tracer.take(atMost: 2).first)
    #expect(span.name == "process apns")
    #expect(span.parent?.traceparent == Self.caller)
    #expect(span.lasted == .milliseconds(7))
    #expect(span.attributes["lockstep.outcome"] == .text("done"))
    #expect(span.failure == nil)
    let next = try #require(broker.messages(in: "build").first)
    #expect(next.text("traceparent") == span.context.traceparent)
  }

  @Test func `Each attempt is a step beside the one before`() throws {
    put("a")
    stage.onTake = { deliveries in
      deliveries.map { Settlement($0, .retry(notBefore: .zero, because: "away")) }
    }
    #expect(try worker.turn())
    time.advance(by: .seconds(60))
    #expect(try worker.turn())
    let spans = tracer.take(atMost: 3)
    #expect(spans.map { $0.attributes["lockstep.attempt"] } == [.integer(1), .integer(2)])
    #expect(spans.map(\.failure) == ["away", "away"])
    #expect(Set(spans.map(\.parent)).count == 1)
    #expect(Set(spans.map(\.context.spanID)).count == 2)
  }

  @Test(arguments: [nil, "", "nonsense", String(caller.dropLast(2)) + "00"])
  func `What belongs to no trace, or to one that nobody keeps, is settled as ever`(
    traceparent: String?
  ) throws {
    put("a", traceparent)
    stage.onTake = { deliveries in
      deliveries.map { delivery in
        let next = OutgoingMessage(
          exchange: "build", routingKey: "build", message: self.message("next", traceparent))
        return Settlement(delivery, .done, outgoing: [next])
      }
    }
    #expect(try worker.turn())
    #expect(tracer.take(atMost: 1).isEmpty)
    #expect(broker.messages(in: "build").count == 1)
  }

  @Test func `A delivery that is lost with its connection is one step in the end`() throws {
    put("a")
    stage.onTake = { _ in [] }
    _ = try worker.turn()
    _ = worker.lost(BrokerLost("gone"))
    stage.onTake = { deliveries in deliveries.map { Settlement($0, .done) } }
    _ = try worker.turn()
    #expect(tracer.take(atMost: 3).count == 1)
  }
}

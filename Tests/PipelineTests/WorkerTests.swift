import Foundation
import Pipeline
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

@Suite struct WorkerTests {
  private let time = ManualTime()
  private let broker: FakeBroker
  private let link: FakeLink
  private let stage = StubStage()
  private let worker: Worker
  private let health = Health()
  private let metrics = Metrics()

  init() {
    broker = FakeBroker(time: time)
    link = broker.link(to: .apns)
    worker = Worker(
      route: Samples.routes[.apns], link: link, stage: stage, time: time, log: .discarding,
      metrics: metrics, health: health)
  }

  private func put(_ ids: String...) {
    for id in ids {
      let message = Message(id: id, type: "t", contentType: "c", body: Data())
      broker.put(message, into: "apns", exchange: "apns", key: "apns")
    }
  }

  private func next(_ id: String) -> OutgoingMessage {
    OutgoingMessage(
      exchange: "build", routingKey: "build",
      message: Message(id: "next of \(id)", type: "t", contentType: "c", body: Data()))
  }

  /// Each delivery causes one message for stage `build`.
  private func passOn() {
    stage.onTake = { deliveries in
      deliveries.map { Settlement($0, .done, outgoing: [self.next($0.message.id)]) }
    }
  }

  private var left: Int { broker.messages(in: "apns").count + link.unsettledCount }

  // MARK: Confirms before acknowledgements

  @Test func `a delivery is acknowledged once what it causes is confirmed`() throws {
    put("a", "b")
    passOn()
    var unsettledWhilePublished: [Int] = []
    broker.onPublish = { _ in unsettledWhilePublished.append(link.unsettledCount) }
    #expect(try worker.turn())
    #expect(unsettledWhilePublished == [2, 2])
    #expect(left == 0)
    #expect(link.windows.map(\.count) == [2], "one window for the batch")
    #expect(broker.messages(in: "build").map(\.id) == ["next of a", "next of b"])
    #expect(try worker.turn() == false)
  }

  @Test func `a refused publish is kept in hand and tried again, without a spin`() throws {
    put("a", "b")
    passOn()
    broker.refusal = { $0.message.id == "next of a" ? "queue is full" : nil }
    #expect(try worker.turn())
    #expect(link.unsettledCount == 1)
    #expect(worker.inHand == 1)
    #expect(try worker.turn() == false, "no reason to go on without a pause")
    #expect(stage.taken.count == 2, "the stage is not asked again")
    broker.refusal = { _ in nil }
    #expect(try worker.turn() == false, "not before its wait is over")
    time.advance(by: PublishWindow.refusedWait)
    #expect(try worker.turn())
    #expect(left == 0)
    #expect(broker.messages(in: "build").map(\.id) == ["next of b", "next of a"])
    #expect(metrics.text().contains("lockstep_stage_publish_refused_total"))
  }

  @Test func `a returned publish is kept in hand too`() throws {
    put("a")
    passOn()
    broker.unbind("build")
    _ = try worker.turn()
    #expect(link.unsettledCount == 1)
    broker.bind("build")
    time.advance(by: PublishWindow.refusedWait)
    _ = try worker.turn()
    #expect(left == 0)
  }

  @Test func `acknowledgements go on while the broker blocks publishers`() throws {
    put("a", "b")
    stage.onTake = { deliveries in
      deliveries.map {
        $0.message.id == "a"
          ? Settlement($0, .retry(notBefore: .zero, because: "503")) : Settlement($0, .done)
      }
    }
    broker.isBlocked = true
    #expect(try worker.turn())
    #expect(link.unsettledCount == 1)
    #expect(link.windows.isEmpty)
    broker.isBlocked = false
    #expect(try worker.turn())
    #expect(left == 0)
    #expect(broker.waiting(on: .apns).map(\.message.id) == ["a"])
  }

  // MARK: The ladder

  @Test func `a retried delivery comes again after its rung, and is dead above the top`() throws {
    put("a")
    stage.onTake = { $0.map { Settlement($0, .retry(notBefore: .zero, because: "503")) } }
    for wait in [5, 30, 120, 900] {
      #expect(try worker.turn())
      time.advance(by: .seconds(wait) - .milliseconds(1))
      #expect(try worker.turn() == false)
      time.advance(by: .milliseconds(1))
    }
    #expect(try worker.turn())
    #expect(stage.taken.map(\.attempt) == [1, 2, 3, 4, 5])
    let dead = try #require(broker.messages(in: "dead.apns").first)
    #expect(dead.text("x-last-error") == "503, after 5 attempts")
    #expect(left == 0)
    #expect(broker.violations.isEmpty)
  }

  @Test func `dead is dead at once`() throws {
    put("a")
    stage.onTake = { $0.map { Settlement($0, .dead(because: "no type")) } }
    _ = try worker.turn()
    #expect(broker.messages(in: "dead.apns").map { $0.text("x-last-error") } == ["no type"])
    #expect(left == 0)
    #expect(metrics.text().contains(#"{outcome="dead",stage="apns"} 1"#))
  }

  @Test func `handed back it comes again without counting an attempt`() throws {
    put("a")
    stage.onTake = { $0.map { Settlement($0, .handBack) } }
    _ = try worker.turn()
    #expect(broker.messages(in: "apns").map(\.headers) == [[:]])
  }

  // MARK: The broker goes

  @Test func `lost in the middle of a window everything comes again and nothing is lost`() throws {
    put("a", "b", "c")
    passOn()
    broker.messagesStoredBeforeLoss = 2
    let loss = try #require(throws: BrokerLost.self) { try worker.turn() }
    #expect(worker.lost(loss) >= .milliseconds(500))
    #expect(worker.inHand == 0)
    #expect(health.readiness == .notReady(["broker: \(loss.reason)"]))
    #expect(left == 3)
    #expect(try worker.turn())
    #expect(left == 0)
    #expect(health.readiness == .ok)
    #expect(stage.taken.map(\.redelivered) == [false, false, false, true, true, true])
    #expect(Set(broker.messages(in: "build").map(\.id)).count == 3)
    #expect(broker.violations.isEmpty)
  }

  @Test func `a tag of a lost connection is not acknowledged on the next one`() throws {
    put("a")
    stage.onTake = { deliveries in
      stage.held += deliveries
      return []
    }
    _ = try worker.turn()
    let late = stage.held
    broker.loseConnections()
    let loss = try #require(throws: BrokerLost.self) { try worker.turn() }
    _ = worker.lost(loss)
    let retry = Disposition.retry(notBefore: .zero, because: "503")
    stage.onAdvance = { late.map { Settlement($0, retry) } }
    _ = try worker.turn()
    #expect(link.unsettledCount == 1, "only what came again is in hand")
    #expect(link.windows.isEmpty, "its copies do not go out either")
    #expect(broker.violations.isEmpty)
  }

  @Test func `what a stage returns only once goes out though the connection is lost`() throws {
    put("a")
    stage.isRepeatable = false
    passOn()
    broker.messagesStoredBeforeLoss = 0
    let loss = try #require(throws: BrokerLost.self) { try worker.turn() }
    _ = worker.lost(loss)
    stage.onTake = { $0.map { Settlement($0, .done) } }
    for _ in 0..<3 { _ = try worker.turn() }
    #expect(broker.messages(in: "build").map(\.id) == ["next of a"])
    #expect(left == 0 && worker.inHand == 0)
  }

  /// A push arrives, the connection is lost, the answer comes: what it makes necessary nobody else
  /// will know.
  @Test func `what a delivery of a lost connection caused goes out all the same, once`() throws {
    put("a")
    stage.isRepeatable = false
    stage.onTake = { deliveries in
      stage.held += deliveries
      return []
    }
    _ = try worker.turn()
    var late = stage.held
    broker.loseConnections()
    let loss = try #require(throws: BrokerLost.self) { try worker.turn() }
    _ = worker.lost(loss)
    stage.onAdvance = {
      defer { late = [] }
      return late.map { Settlement($0, .done, outgoing: [self.next("a")]) }
    }
    broker.refusal = { _ in "queue is full" }
    _ = try worker.turn()
    #expect(worker.inHand == 2, "it came again, and what it caused is still to go out")
    broker.refusal = { _ in nil }
    time.advance(by: PublishWindow.refusedWait)
    for _ in 0..<3 { _ = try worker.turn() }
    #expect(broker.messages(in: "build").map(\.id) == ["next of a"])
    #expect(link.unsettledCount == 1 && link.staleTags.isEmpty)
    #expect(broker.violations.isEmpty)
  }

  @Test func `a broker that is down is told of by health`() throws {
    broker.isDown = true
    let loss = try #require(throws: BrokerLost.self) { try worker.turn() }
    _ = worker.lost(loss)
    #expect(health.readiness == .notReady(["broker: connection refused"]))
  }

  // MARK: The store goes

  @Test func `a batch that could not be stored is offered again, and nothing more is taken`()
    throws
  {
    put("a", "b")
    stage.onTake = { _ in throw StoreError("disk full") }
    #expect(try worker.turn() == false)
    put("c")
    #expect(try worker.turn() == false)
    #expect(stage.taken.map(\.message.id) == ["a", "b", "a", "b"])
    #expect(health.readiness == .notReady(["store: disk full"]))
    stage.onTake = { $0.map { Settlement($0, .done) } }
    #expect(try worker.turn())
    #expect(try worker.turn())
    #expect(left == 0)
    #expect(health.readiness == .ok)
    #expect(broker.violations.isEmpty)
  }

  @Test func `what was taken is not offered again because something else could not be stored`()
    throws
  {
    put("a")
    stage.onTake = { deliveries in
      stage.held += deliveries
      return []
    }
    stage.onAdvance = { throw StoreError("disk full") }
    for _ in 0..<3 { _ = try worker.turn() }
    #expect(stage.taken.count == 1)
    stage.onAdvance = {
      defer { stage.held = [] }
      return stage.held.map { Settlement($0, .done) }
    }
    #expect(try worker.turn())
    #expect(left == 0)
    #expect(broker.violations.isEmpty, "nothing was acknowledged twice")
  }

  @Test func `settled deliveries are acknowledged although the rest could not be stored`() throws {
    put("a")
    stage.onAdvance = { throw StoreError("disk full") }
    _ = try worker.turn()
    #expect(left == 0)
  }
}

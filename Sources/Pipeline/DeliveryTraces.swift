import ServiceRuntime
import Vocabulary

/// What a worker adds to traces: one step per delivery, from its receipt until it is settled. What
/// the delivery causes becomes a child of that step.
struct DeliveryTraces {
  private let tracer: Tracer
  private let stage: StageName
  private let queue: String
  private let time: any TimeSource
  /// Bounded by the prefetch: what is settled or lost goes.
  private var received: [DeliveryTag: (at: UnixTime, elapsed: Duration)] = [:]

  init(_ tracer: Tracer, stage: StageName, queue: String, time: any TimeSource) {
    self.tracer = tracer
    self.stage = stage
    self.queue = queue
    self.time = time
  }

  /// The step that a stage's work on one delivery is: the same for the worker and for its stage.
  /// Nil when the message belongs to no trace.
  static func step(of delivery: Delivery, in stage: StageName) -> TraceContext? {
    delivery.message.trace?.child(stage.rawValue, delivery.message.id, "\(delivery.attempt)")
  }

  mutating func receive(_ deliveries: [Delivery]) {
    let moment = (time.now(), time.elapsed())
    for delivery in deliveries where delivery.message.trace?.isSampled == true {
      received[delivery.tag] = moment
    }
  }

  /// The messages that a delivery causes, as children of its step. A copy of the delivery for the
  /// ladder stays where it is: each attempt is a step beside the one before.
  func continuing(_ delivery: Delivery, _ messages: [OutgoingMessage]) -> [OutgoingMessage] {
    guard let step = Self.step(of: delivery, in: stage) else { return messages }
    let given = delivery.message.text(Event.Header.traceparent)
    return messages.map { outgoing in
      guard outgoing.message.id != delivery.message.id,
        outgoing.message.text(Event.Header.traceparent) == given
      else { return outgoing }
      return outgoing.continuing(step)
    }
  }

  mutating func settle(_ settlement: Settlement) {
    let delivery = settlement.delivery
    guard let begun = received.removeValue(forKey: delivery.tag),
      let parent = delivery.message.trace, let step = Self.step(of: delivery, in: stage),
      settlement.disposition != .handBack
    else { return }
    let lasted = time.elapsed() - begun.elapsed
    tracer.record(
      Span(
        "process \(queue)", .consumer, step, parent: parent, begun: begun.at, lasted: lasted,
        attributes: [
          "messaging.system": .text("rabbitmq"), "messaging.operation.type": .text("process"),
          "messaging.destination.name": .text(queue),
          "messaging.message.id": .text(delivery.message.id),
          "lockstep.message.type": .text(delivery.message.type),
          "lockstep.attempt": .integer(delivery.attempt),
          "lockstep.outcome": .text(settlement.disposition.outcome),
        ], failure: settlement.disposition.failure),
      of: step)
  }

  /// Forgets what comes again.
  mutating func forget() { received = [:] }
}

extension Disposition {
  /// Why the work did not come to its end; nil when it did.
  fileprivate var failure: String? {
    switch self {
    case .retry(_, let reason), .dead(let reason): reason
    case .done, .stale, .superseded, .expired, .park, .handBack: nil
    }
  }
}

extension Message {
  /// As it is passed on; nil when it has none, or none of any version (W3C Trace Context has 55
  /// characters in version 00).
  var traceparent: String? {
    text(Event.Header.traceparent).flatMap { $0.utf8.count <= 64 ? $0 : nil }
  }

  /// Its place in a trace; nil when it has none, or none that can be read.
  var trace: TraceContext? { text(Event.Header.traceparent).flatMap(TraceContext.init) }
}

extension OutgoingMessage {
  /// The same message as a child of `step`.
  func continuing(_ step: TraceContext) -> OutgoingMessage {
    var message = message
    message.headers[Event.Header.traceparent] = .text(step.traceparent)
    return OutgoingMessage(exchange: exchange, routingKey: routingKey, message: message)
  }
}

import Pushes
import ServiceRuntime
import Vocabulary

/// What a sender adds to traces: one step per request that left, below the worker's own step.
struct PushTraces {
  private let tracer: Tracer
  private let stage: StageName

  init(_ tracer: Tracer, stage: StageName) {
    self.tracer = tracer
    self.stage = stage
  }

  /// `nth`: counts the requests of one visit. `begun`: when it left. `failure`: nil when the
  /// service took it.
  func answered(
    _ delivery: Delivery, nth: Int, to service: String, begun: UnixTime, now: UnixTime,
    _ attributes: [String: Span.Value], failure: String?
  ) {
    guard let parent = DeliveryTraces.step(of: delivery, in: stage) else { return }
    let step = parent.child("push", "\(nth)")
    tracer.record(
      Span(
        "push \(service)", .client, step, parent: parent, begun: begun, lasted: now - begun,
        attributes: attributes, failure: failure),
      of: step)
  }
}

extension APNsSender {
  /// After the answer is stored. No token: its fingerprint is in the delivery record.
  func trace(_ sending: Sending, _ outcome: PushOutcome, now: UnixTime) {
    guard let traces else { return }
    let job = sending.job
    var attributes: [String: Span.Value] = [
      "lockstep.push.environment": .text(sending.environment.rawValue),
      "lockstep.push.type": .text(job.pushType), "lockstep.push.event": .text(job.event.rawValue),
      "lockstep.push.apns_id": .text(job.id),
    ]
    let failure: String?
    switch outcome {
    case .answered(let answer):
      attributes["http.response.status_code"] = .integer(answer.status)
      failure = answer.status == 200 ? nil : answer.reason ?? "\(answer.status)"
    case .neverProcessed: failure = "never processed"
    case .unanswered: failure = "unanswered"
    }
    traces.answered(
      sending.delivery, nth: sending.sends, to: "apns", begun: sending.sentAt, now: now, attributes,
      failure: failure)
  }
}

extension WebPushSender {
  /// After the answer is stored. The host alone: the rest of an endpoint is a secret.
  func trace(_ sending: Sending, _ outcome: WebPushOutcome, now: UnixTime) {
    guard let traces, let target = sending.target else { return }
    var attributes: [String: Span.Value] = [
      "server.address": .text(target.subscription.endpoint.host)
    ]
    let failure: String?
    switch outcome {
    case .answered(let answer):
      attributes["http.response.status_code"] = .integer(answer.status)
      failure = (200..<300).contains(answer.status) ? nil : answer.reason ?? "\(answer.status)"
    case .forbidden(let cause), .unanswered(let cause): failure = cause
    }
    traces.answered(
      sending.delivery, nth: sending.sends, to: "webpush", begun: sending.sentAt, now: now,
      attributes, failure: failure)
  }
}

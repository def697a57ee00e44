import Pushes
import ServiceRuntime
import Vocabulary

// One record per attempt, and its step of the trace.
extension FCMSender {
  /// Nil for what only waits its turn.
  func record(_ sending: Sending, dropped disposition: Disposition, now: UnixTime)
    -> DeliveryRecord?
  {
    guard let (reason, consequence) = disposition.recorded else { return nil }
    return record(
      sending, status: nil, reason: reason, wasSent: false, consequence: consequence, now: now)
  }

  func record(
    _ sending: Sending, _ outcome: FCMOutcome, _ consequence: DeliveryRecord.Consequence,
    now: UnixTime
  ) -> DeliveryRecord {
    switch outcome {
    case .answered(let answer):
      record(
        sending, status: answer.status, reason: answer.reason, consequence: consequence, now: now)
    case .unanswered(let cause):
      record(sending, status: nil, reason: cause, consequence: consequence, now: now)
    case .unauthorized(let none):
      record(
        sending, status: nil, reason: none.reason, wasSent: false, consequence: consequence,
        now: now)
    }
  }

  private func record(
    _ sending: Sending, status: Int?, reason: String?, wasSent: Bool = true,
    consequence: DeliveryRecord.Consequence, now: UnixTime
  ) -> DeliveryRecord {
    let job = sending.job
    return DeliveryRecord(
      jobID: job.id, sessionID: job.sessionID, userID: job.userID, contextKey: job.contextKey,
      rev: job.rev, tokenFingerprint: job.token.fingerprint, event: name.rawValue, status: status,
      reason: reason, attempt: sending.delivery.attempt, causedAt: job.causedAt, settledAt: now,
      wasSent: wasSent, consequence: consequence)
  }

  /// After the answer is stored. No token: its fingerprint is in the delivery record.
  func trace(_ sending: Sending, _ outcome: FCMOutcome, now: UnixTime) {
    guard let traces else { return }
    var attributes: [String: Span.Value] = [
      "lockstep.push.event": .text(sending.job.event.rawValue)
    ]
    let failure: String?
    switch outcome {
    case .answered(let answer):
      attributes["http.response.status_code"] = .integer(answer.status)
      failure = answer.reason
    case .unanswered(let cause): failure = cause
    case .unauthorized(let none): failure = none.reason
    }
    traces.answered(
      sending.delivery, nth: sending.sends, to: name.rawValue, begun: sending.sentAt, now: now,
      attributes, failure: failure)
  }
}

import ServiceRuntime
import Vocabulary

/// The traces of what the clock does: no request began them, so each begins at the sweep.
struct ExpiryTraces {
  /// Nil while nobody traces here; others may still follow what a trace begun here causes.
  private let tracer: Tracer?

  init(_ tracer: Tracer?) { self.tracer = tracer }

  func begin() -> TraceContext {
    var random = SystemRandomNumberGenerator()
    return .beginning(keeping: tracer?.share ?? 1, using: &random)
  }

  /// After it is stored. `dueAt`: when it should have been done.
  func done(
    _ mutation: String, of session: SessionID, _ step: TraceContext, dueAt: UnixTime,
    now: UnixTime
  ) {
    tracer?.record(
      Span(
        "sweep \(mutation)", .own, step, parent: nil, begun: min(dueAt, now), lasted: now - dueAt,
        attributes: ["lockstep.session": .text(session.text)]),
      of: step)
  }
}

import Pipeline
import Pushes
import Vocabulary

/// A push service that answers as the test says, at the next ``advance()``.
package final class ScriptedTransport: PushTransport {
  /// What is answered to a request; nil: nothing yet, it stays in flight.
  package var answer: (PushRequest) -> PushOutcome? = { _ in .answered(PushAnswer(status: 200)) }
  /// Requests in flight at most.
  package var inFlightMax = 100
  /// Everything handed over, in order.
  package private(set) var requests: [PushRequest] = []
  /// Tokens that had two requests in flight at once: must stay empty.
  package private(set) var overlaps: [PushToken] = []
  private var open: [PushRequest] = []

  package init() {}

  package var descriptors: [(descriptor: Int32, events: Int16)] { [] }
  package var capacity: Int { max(0, inFlightMax - open.count) }
  package var inFlight: Int { open.count }
  /// Sent and not answered, in order.
  package var unanswered: [PushRequest] { open }

  package func send(_ request: PushRequest) {
    precondition(capacity > 0, "more was sent than there was room for")
    if open.contains(where: { $0.token == request.token }) { overlaps.append(request.token) }
    requests.append(request)
    open.append(request)
  }

  package func advance() -> [PushResult] {
    var results: [PushResult] = []
    open.removeAll { request in
      guard let outcome = answer(request) else { return false }
      results.append(PushResult(number: request.number, outcome: outcome))
      return true
    }
    return results
  }

  package func close() { open = [] }
}

extension PushOutcome {
  /// An answer of APNs with this status and reason.
  package static func status(_ status: Int, _ reason: String? = nil) -> PushOutcome {
    .answered(PushAnswer(status: status, reason: reason))
  }
}

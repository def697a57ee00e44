import HTTPServing
import ServiceRuntime
import Vocabulary

/// The step of a trace that answering one request is.
struct RequestTrace {
  /// What the request's event carries on. While nobody traces here, it is the caller's own step.
  let step: TraceContext
  private let parent: TraceContext?
  private let request: HTTPRequest
  private let tracer: Tracer?
  private let begun: UnixTime

  /// Goes on with the caller's trace when its `traceparent` is valid, else begins one.
  init(_ request: HTTPRequest, tracer: Tracer?, now: UnixTime) {
    self.request = request
    self.tracer = tracer
    begun = now
    var random = SystemRandomNumberGenerator()
    parent = request.header("traceparent").flatMap(TraceContext.init)
    if let parent {
      step = tracer == nil ? parent : parent.child(RequestID.made())
    } else {
      step = .beginning(keeping: tracer?.share ?? 1, using: &random)
    }
  }

  /// `pattern`: the route's, not the path, which names people and sessions.
  func answered(_ pattern: String, status: Int, after spent: Duration) {
    tracer?.record(
      Span(
        "\(request.method) \(pattern)", .server, step, parent: parent, begun: begun,
        lasted: spent,
        attributes: [
          "http.request.method": .text(request.method), "http.route": .text(pattern),
          "http.response.status_code": .integer(status), "lockstep.request_id": .text(request.id),
        ], failure: status >= 500 ? "answered \(status)" : nil),
      of: step)
  }
}

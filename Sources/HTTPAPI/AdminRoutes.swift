import HTTPServing
import Pipeline
import ServiceRuntime
import Vocabulary

/// What every role answers on its admin port: `/livez`, `/readyz`, `/metrics`, and `/lanes`: which
/// lanes its senders have open, and why.
package struct AdminRoutes: Sendable {
  private let readiness: @Sendable () -> Readiness
  private let metrics: Metrics
  private let lanes: LaneBoard

  package init(
    readiness: @escaping @Sendable () -> Readiness, metrics: Metrics,
    lanes: LaneBoard = LaneBoard()
  ) {
    self.readiness = readiness
    self.metrics = metrics
    self.lanes = lanes
  }

  /// Answers one request; 404 for a path it does not know.
  package func handle(_ request: HTTPRequest) -> HTTPResponse {
    respond(to: request)
      ?? Problem.notFound("There is nothing at \(request.path.prefix(200)).").response
  }

  /// Nil for a path it does not know, so that others can be asked.
  package func respond(to request: HTTPRequest) -> HTTPResponse? {
    let answer: HTTPResponse
    switch request.path {
    case "/livez": answer = .json(200, ["status": "ok"])
    case "/readyz": answer = readyz()
    case "/lanes": answer = .json(200, lanes.open)
    case "/metrics":
      answer = .text(
        200, metrics.text(), contentType: "text/plain; version=0.0.4; charset=utf-8")
    default: return nil
    }
    guard request.method == "GET" || request.method == "HEAD" else {
      return Problem.methodNotAllowed(request.method, allowed: ["GET", "HEAD"]).response
    }
    return answer
  }

  private func readyz() -> HTTPResponse {
    switch readiness() {
    case .ok: .json(200, ["status": "ok"] as JSONValue)
    case .degraded(let reasons): .json(200, body("degraded", reasons))
    case .notReady(let reasons): .json(503, body("not_ready", reasons))
    }
  }

  private func body(_ status: String, _ reasons: [String]) -> JSONValue {
    ["status": .string(status), "because": .array(reasons.map(JSONValue.string))]
  }
}

import Foundation
import HTTPServing
import ServiceRuntime
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct AdminRoutesTests {
  private func ask(_ path: String, method: String = "GET", _ readiness: Readiness = .ok) throws
    -> HTTPResponse
  {
    let metrics = Metrics()
    metrics.counter("lockstep_test_total", help: "A test.").add(3)
    return AdminRoutes(readiness: { readiness }, metrics: metrics).handle(
      HTTPRequest(method: method, target: try #require(RequestTarget(path))))
  }

  @Test(
    arguments: [
      (.ok, 200, ["status": "ok"]),
      (.degraded(["broker away"]), 200, ["status": "degraded", "because": ["broker away"]]),
      (.notReady(["store closed"]), 503, ["status": "not_ready", "because": ["store closed"]]),
    ] as [(Readiness, Int, JSONValue)])
  func `readyz says whether it serves`(readiness: Readiness, status: Int, body: JSONValue) throws {
    let answer = try ask("/readyz", readiness)
    #expect(answer.status == status)
    #expect(try answer.json() == body)
  }

  @Test func `livez and metrics answer, other paths and methods do not`() throws {
    #expect(try ask("/livez", .notReady(["x"])).status == 200)
    let metrics = try ask("/metrics")
    #expect(metrics.header("content-type") == "text/plain; version=0.0.4; charset=utf-8")
    #expect(String(decoding: metrics.data, as: UTF8.self).contains("lockstep_test_total 3\n"))
    #expect(try ask("/ops").status == 404)
    #expect(try ask("/metrics", method: "POST").status == 405)
  }

  @Test func `lanes is an array, empty as long as all is well`() throws {
    let answer = try ask("/lanes")
    #expect(answer.status == 200)
    #expect(try answer.json() == [])
    #expect(try ask("/lanes", method: "POST").status == 405)
  }
}

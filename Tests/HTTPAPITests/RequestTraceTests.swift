import HTTPServing
import ServiceRuntime
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct RequestTraceTests {
  private static let given = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  private let tracer = Tracer(metrics: Metrics())

  private func trace(_ traceparent: String?, tracer: Tracer?) throws -> RequestTrace {
    let request = HTTPRequest(
      method: "POST", target: try #require(RequestTarget("/sessions/cs_secret")),
      headers: traceparent.map { [("traceparent", $0)] } ?? [])
    return RequestTrace(request, tracer: tracer, now: UnixTime(seconds: 1))
  }

  @Test func `While nobody traces, the caller's own step goes on`() throws {
    #expect(try trace(Self.given, tracer: nil).step.traceparent == Self.given)
  }

  @Test(arguments: [nil, "", "00-1-2-01", given.uppercased()])
  func `Without a valid step of the caller a trace begins`(traceparent: String?) throws {
    for tracer in [nil, tracer] {
      let step = try trace(traceparent, tracer: tracer).step
      #expect(step.isSampled)
      #expect(TraceContext(step.traceparent) == step)
    }
  }

  @Test func `A request is one step below the caller's, and names no session`() throws {
    let trace = try trace(Self.given, tracer: tracer)
    trace.answered("/sessions/{id}", status: 503, after: .milliseconds(3))
    let span = try #require(tracer.take(atMost: 2).first)
    #expect(span.name == "POST /sessions/{id}")
    #expect(span.parent?.traceparent == Self.given)
    #expect(span.context == trace.step)
    #expect(span.context.traceID == "4bf92f3577b34da6a3ce929d0e0e4736")
    #expect(span.failure == "answered 503")
    #expect(!"\(span)".contains("cs_secret"))
  }

  @Test func `What the caller does not keep is not kept here`() throws {
    let trace = try trace(String(Self.given.dropLast(2)) + "00", tracer: tracer)
    trace.answered("/", status: 200, after: .zero)
    #expect(tracer.take(atMost: 1).isEmpty)
    #expect(trace.step.traceparent.hasSuffix("-00"))
  }
}

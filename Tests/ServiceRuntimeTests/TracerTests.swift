import ServiceRuntime
import Testing
import Vocabulary

@Suite struct TracerTests {
  private let metrics = Metrics()

  private func span(_ name: String, in context: TraceContext) -> Span {
    Span(
      name, .consumer, context, parent: nil, begun: UnixTime(seconds: 1), lasted: .seconds(1))
  }

  private func context(_ flags: String = "01") throws -> TraceContext {
    try #require(
      TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-\(flags)"))
  }

  @Test func `Spans are handed out once, oldest first`() throws {
    let tracer = Tracer(metrics: metrics)
    let context = try context()
    for name in ["a", "b", "c"] { tracer.record(span(name, in: context), of: context) }
    #expect(tracer.take(atMost: 2).map(\.name) == ["a", "b"])
    #expect(tracer.take(atMost: 2).map(\.name) == ["c"])
    #expect(tracer.take(atMost: 2).isEmpty)
  }

  @Test func `A trace that nobody keeps is not even written`() throws {
    let tracer = Tracer(metrics: metrics)
    let context = try context("00")
    var written = 0
    let make = {
      written += 1
      return span("a", in: context)
    }
    tracer.record(make(), of: context)
    #expect(written == 0)
    #expect(tracer.take(atMost: 1).isEmpty)
  }

  @Test func `When nobody takes them the newest are dropped and counted`() throws {
    let tracer = Tracer(metrics: metrics)
    let context = try context()
    for number in 0..<Tracer.waitingMax + 3 {
      tracer.record(span("\(number)", in: context), of: context)
    }
    #expect(metrics.text().contains("\nlockstep_spans_dropped_total 3\n"))
    let kept = tracer.take(atMost: .max)
    #expect(kept.count == Tracer.waitingMax)
    #expect(kept.last?.name == "\(Tracer.waitingMax - 1)")
  }

  @Test func `A span never ends before it begins`() throws {
    let context = try context()
    let span = Span(
      "a", .server, context, parent: nil, begun: UnixTime(seconds: 1), lasted: .seconds(-5))
    #expect(span.lasted == .zero)
  }
}

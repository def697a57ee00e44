import Foundation
import OTLPExport
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

@Suite struct SpanExportTests {
  private let metrics = Metrics()
  private let tracer: Tracer

  init() { tracer = Tracer(metrics: metrics) }

  private func export(to endpoint: String, headers: [String: String] = [:]) throws -> SpanExport {
    SpanExport(
      try OTLPSettings(endpoint: endpoint, headers: headers), tracer: tracer,
      service: "lockstep-api", instance: "host:1", log: .discarding, metrics: metrics)
  }

  private func record(_ count: Int = 1) throws {
    let parent = try #require(
      TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
    let step = parent.child("one")
    for number in 0..<count {
      tracer.record(
        Span(
          "POST /a/{id} \"\(number)\"", .server, step, parent: parent,
          begun: UnixTime(milliseconds: 1_781_784_000_123), lasted: .microseconds(1500),
          attributes: ["http.response.status_code": .integer(503), "http.route": .text("/a/{id}")],
          failure: "answered 503"), of: step)
    }
    tracer.record(
      Span(
        "publish events", .producer, parent, parent: nil, begun: UnixTime(seconds: 2),
        lasted: .zero), of: parent)
  }

  private func count(_ name: String) -> String? {
    metrics.text().split(separator: "\n").first { $0.hasPrefix("lockstep_spans_\(name)_total ") }
      .map { String($0.split(separator: " ")[1]) }
  }

  @Test func `A batch is one request in OpenTelemetry's form`() throws {
    let collector = try TraceCollector()
    try record()
    let export = try export(to: collector.endpoint + "/", headers: ["authorization": "Bearer x"])
    #expect(export.turn() == .taken)
    #expect(export.turn() == .idle)
    let request = try #require(collector.requests.first)
    #expect(collector.requests.count == 1)
    #expect(request.path == "/v1/traces")
    #expect(request.contentType == "application/json")
    #expect(request.authorization == "Bearer x")
    try expectGolden("traces.json", try Self.pretty(request.body))
    #expect(count("exported") == "2")
  }

  private static func pretty(_ body: Data) throws -> Data {
    try JSONSerialization.data(
      withJSONObject: JSONSerialization.jsonObject(with: body),
      options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
  }

  @Test(arguments: [429, 502, 503, 504])
  func `While the collector is ill the batch is kept`(status: Int) throws {
    let collector = try TraceCollector()
    collector.answer(status)
    try record()
    let export = try export(to: collector.endpoint)
    #expect(export.turn() == .away)
    #expect(export.turn() == .away)
    collector.answer(200)
    #expect(export.turn() == .taken)
    #expect(Set(collector.requests.map(\.body)).count == 1, "the same batch each time")
    #expect(count("exported") == "2")
    #expect(count("dropped") == "0")
  }

  @Test func `While there is no collector the batch is kept`() throws {
    try record()
    let export = try export(to: "http://127.0.0.1:1")
    #expect(export.turn() == .away)
    #expect(count("exported") == "0")
  }

  @Test(arguments: [400, 401, 404, 302])
  func `What the collector refuses is dropped and counted`(status: Int) throws {
    let collector = try TraceCollector()
    collector.answer(status)
    try record()
    let export = try export(to: collector.endpoint)
    #expect(export.turn() == .refused)
    #expect(export.turn() == .idle)
    #expect(count("dropped") == "2")
  }

  @Test func `Many spans go in several batches, and the last ones at the end`() throws {
    let collector = try TraceCollector()
    try record(1200)
    let stop = StopSignal()
    stop.raise()
    try export(to: collector.endpoint).run(until: stop)
    #expect(collector.requests.count == 3)
    #expect(count("exported") == "1201")
  }
}

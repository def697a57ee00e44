import Foundation
import HTTPClient
import ServiceRuntime
import Vocabulary

/// Carries finished spans to a collector, in batches, by OTLP/HTTP with JSON. One thread runs it.
///
/// What the collector refuses is dropped; while it is away the batch in hand is kept and tried
/// again, and ``Tracer`` drops what no longer fits.
package final class SpanExport {
  /// Spans in one request.
  package static let batchMax = 512
  /// Between two looks.
  private static let pause: Duration = .seconds(1)
  private static let timeout: Duration = .seconds(5)
  /// After the collector was away, doubled each time up to the longest.
  private static let waitLeast: Duration = .seconds(1)
  private static let waitMost: Duration = .seconds(30)

  private let tracer: Tracer
  private let settings: OTLPSettings
  private let service: String
  private let instance: String
  private let log: Log
  private let exported: Counter
  private let client = HTTPClient(timeout: SpanExport.timeout)
  private var inHand: [Span] = []
  private var trouble: String?

  /// `service`, `instance`: how the collector tells programs and processes apart.
  package init(
    _ settings: OTLPSettings, tracer: Tracer, service: String, instance: String, log: Log,
    metrics: Metrics
  ) {
    self.settings = settings
    self.tracer = tracer
    self.service = service
    self.instance = instance
    self.log = log
    exported = metrics.counter(
      "lockstep_spans_exported_total", help: "Steps of traces that the collector took.")
  }

  /// What became of one batch.
  package enum Outcome: Hashable, Sendable {
    /// Nothing waits.
    case idle
    case taken
    /// The collector does not want it; it is dropped.
    case refused
    /// To be tried again.
    case away
  }

  /// Sends one batch.
  package func turn() -> Outcome {
    if inHand.isEmpty { inHand = tracer.take(atMost: Self.batchMax) }
    guard !inHand.isEmpty else { return .idle }
    do {
      let body = try OTLPTraces.body(inHand, service: service, instance: instance)
      let answer = try client.send(
        "POST", settings.tracesURL,
        headers: settings.headers.merging(["content-type": "application/json"]) { given, _ in given
        },
        body: body)
      return took(answer)
    } catch {
      note("\(error)")
      return .away
    }
  }

  private func took(_ answer: HTTPClientResponse) -> Outcome {
    let count = inHand.count
    switch answer.status {
    case 200..<300:
      inHand = []
      exported.add(count)
      note(nil)
      return .taken
    case 429, 502, 503, 504:
      note("\(settings.tracesURL) answers \(answer.status)")
      return .away
    default:
      inHand = []
      tracer.drop(count)
      note("\(settings.tracesURL) answers \(answer.status): \(answer.text.prefix(200))")
      return .refused
    }
  }

  /// Runs until `stop` is raised, then sends what waits, as long as the collector takes it.
  package func run(until stop: StopSignal) {
    var wait = Self.waitLeast
    while !stop.isRaised {
      switch turn() {
      case .taken:
        wait = Self.waitLeast
      case .idle, .refused:
        stop.wait(atMost: Self.pause)
      case .away:
        stop.wait(atMost: wait)
        wait = min(wait * 2, Self.waitMost)
      }
    }
    while [.taken, .refused].contains(turn()) {}
  }

  /// One line when it begins, one when it ends.
  private func note(_ trouble: String?) {
    if let trouble, self.trouble == nil {
      log.warning("traces are not exported", ["because": trouble])
    }
    if trouble == nil, self.trouble != nil { log.info("traces are exported again") }
    self.trouble = trouble
  }
}

import Foundation
import OTLPExport
import ServiceRuntime

/// The tracer of one process and the thread that carries what it holds to a collector.
final class TraceExport: Sendable {
  static let settingNames = [
    "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_TRACES_SAMPLER_ARG",
  ]
  /// For the last spans of a process that ends.
  private static let lastWait: Duration = .seconds(3)

  struct Settings: Sendable {
    let otlp: OTLPSettings
    let share: Double

    /// Nil when nobody traces, or a setting is wrong.
    init?(reading settings: inout SettingsReader) {
      let headers = settings.value("OTEL_EXPORTER_OTLP_HEADERS", isSecret: true) {
        try OTLPSettings.headers($0)
      }
      share = settings.value("OTEL_TRACES_SAMPLER_ARG", Self.share) ?? 1
      let otlp = settings.value("OTEL_EXPORTER_OTLP_ENDPOINT") {
        try OTLPSettings(endpoint: $0, headers: headers ?? [:])
      }
      guard let otlp else { return nil }
      self.otlp = otlp
    }

    private static func share(_ text: String) throws -> Double {
      guard let share = Double(text), (0...1).contains(share) else {
        throw Reading.Complaint("want a number from 0 to 1")
      }
      return share
    }
  }

  let tracer: Tracer
  private let stop = StopSignal()
  private let thread: OwnedThread

  init(_ settings: Settings, role: String, log: Log, metrics: Metrics) {
    let tracer = Tracer(share: settings.share, metrics: metrics)
    let stop = stop
    self.tracer = tracer
    thread = OwnedThread.start(named: "span-export") {
      let export = SpanExport(
        settings.otlp, tracer: tracer, service: "lockstep-\(role)",
        instance: "\(ProcessInfo.processInfo.hostName):\(getpid())", log: log, metrics: metrics)
      export.run(until: stop)
    }
  }

  /// Sends what waits. Call it when nothing records any more.
  func finish() {
    stop.raise()
    let end = ContinuousClock.now + Self.lastWait
    while !thread.hasEnded, ContinuousClock.now < end { Poll.wait([], atMost: .milliseconds(20)) }
  }
}

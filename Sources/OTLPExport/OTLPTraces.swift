import Foundation
import ServiceRuntime
import Vocabulary

/// The body of an OTLP/HTTP export request in JSON: `ExportTraceServiceRequest` of OpenTelemetry's
/// protocol 1.x, where ids are hex, and 64-bit numbers text.
enum OTLPTraces {
  /// `service`: which program; becomes `service.name`.
  static func body(_ spans: [Span], service: String, instance: String) throws -> Data {
    let request = Request(resourceSpans: [
      ResourceSpans(
        resource: Resource(
          attributes: attributes([
            "service.name": .text(service), "service.instance.id": .text(instance),
          ])),
        scopeSpans: [ScopeSpans(scope: Scope(name: "lockstep"), spans: spans.map(SpanForm.init))])
    ])
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try encoder.encode(request)
  }

  private static func attributes(_ values: [String: Span.Value]) -> [Attribute] {
    values.sorted { $0.key < $1.key }.map { Attribute(key: $0.key, value: AnyValue($0.value)) }
  }

  private struct Request: Encodable { let resourceSpans: [ResourceSpans] }

  private struct ResourceSpans: Encodable {
    let resource: Resource
    let scopeSpans: [ScopeSpans]
  }

  private struct Resource: Encodable { let attributes: [Attribute] }
  private struct Scope: Encodable { let name: String }

  private struct ScopeSpans: Encodable {
    let scope: Scope
    let spans: [SpanForm]
  }

  private struct Attribute: Encodable {
    let key: String
    let value: AnyValue
  }

  private struct AnyValue: Encodable {
    var stringValue: String?
    var intValue: String?

    init(_ value: Span.Value) {
      switch value {
      case .text(let text): stringValue = text
      case .integer(let number): intValue = String(number)
      }
    }
  }

  private struct Status: Encodable {
    let code: Int
    let message: String
  }

  private struct SpanForm: Encodable {
    let traceId: String
    let spanId: String
    let parentSpanId: String?
    let name: String
    let kind: Int
    let startTimeUnixNano: String
    let endTimeUnixNano: String
    let attributes: [Attribute]
    let status: Status?

    init(_ span: Span) {
      traceId = span.context.traceID
      spanId = span.context.spanID
      parentSpanId = span.parent?.spanID
      name = span.name
      kind = span.kind.rawValue
      startTimeUnixNano = Self.nanoseconds(span.begun, plus: .zero)
      endTimeUnixNano = Self.nanoseconds(span.begun, plus: span.lasted)
      attributes = OTLPTraces.attributes(span.attributes)
      status = span.failure.map { Status(code: 2, message: $0) }
    }

    private static func nanoseconds(_ moment: UnixTime, plus span: Duration) -> String {
      let (seconds, attoseconds) = span.components
      let part = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
      return String(moment.milliseconds * 1_000_000 + part)
    }
  }
}

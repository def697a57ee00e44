import Vocabulary

/// One step of a trace that has ended: what OpenTelemetry calls a span.
package struct Span: Hashable, Sendable {
  /// The part that the step plays between processes.
  package enum Kind: Int, Sendable {
    /// Nobody outside is part of it.
    case own = 1
    case server = 2
    case client = 3
    case producer = 4
    case consumer = 5
  }

  package enum Value: Hashable, Sendable {
    case text(String)
    case integer(Int)
  }

  package let name: String
  package let kind: Kind
  package let context: TraceContext
  /// The step that caused it; nil at the beginning of a trace.
  package let parent: TraceContext?
  package let begun: UnixTime
  package let lasted: Duration
  /// By OpenTelemetry's names where it has one. No personal text, no token.
  package let attributes: [String: Value]
  /// What went wrong; nil when nothing did.
  package let failure: String?

  package init(
    _ name: String, _ kind: Kind, _ context: TraceContext, parent: TraceContext?,
    begun: UnixTime, lasted: Duration, attributes: [String: Value] = [:], failure: String? = nil
  ) {
    self.name = name
    self.kind = kind
    self.context = context
    self.parent = parent
    self.begun = begun
    self.lasted = max(lasted, .zero)
    self.attributes = attributes
    self.failure = failure
  }
}

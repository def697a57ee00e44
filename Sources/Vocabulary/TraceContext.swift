/// The place of one step in a trace: W3C Trace Context, version 00.
///
/// Written `00-<32 hex: trace>-<16 hex: span>-<2 hex: flags>`, as the header `traceparent` of HTTP
/// requests and of messages.
package struct TraceContext: Hashable, Sendable {
  /// 32 lower-case hex digits, shared by all steps of one trace.
  package let traceID: String
  /// 16 lower-case hex digits, of this step alone.
  package let spanID: String
  /// Whether whoever began the trace wants it kept.
  package let isSampled: Bool

  private init(traceID: String, spanID: String, isSampled: Bool) {
    self.traceID = traceID
    self.spanID = spanID
    self.isSampled = isSampled
  }

  /// Reads the header; nil unless it is valid: zeroes, upper case and other versions are not.
  package init?(_ traceparent: String) {
    let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [2, 32, 16, 2], parts[0] == "00",
      parts.allSatisfy({ $0.utf8.allSatisfy(Self.isLowerHexDigit) }),
      parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" }),
      let flags = UInt8(parts[3], radix: 16)
    else { return nil }
    self.init(
      traceID: String(parts[1]), spanID: String(parts[2]), isSampled: flags & 1 == 1)
  }

  /// The first step of a new trace.
  ///
  /// `share`: of all new traces, how many are kept; 0 to 1.
  package static func beginning(
    keeping share: Double = 1, using random: inout some RandomNumberGenerator
  ) -> TraceContext {
    let low = UInt64.random(in: .min ... .max, using: &random)
    return TraceContext(
      traceID: hex(.random(in: 1 ... .max, using: &random)) + hex(low),
      spanID: hex(.random(in: 1 ... .max, using: &random)),
      // By the trace's own digits, so that every program that looks decides alike.
      isSampled: Double(low >> 11) < share * Double(1 << 53))
  }

  /// A step that this one causes. The same words give the same step, so that a repetition of it is
  /// known as one.
  package func child(_ words: String...) -> TraceContext {
    // FNV-1a, 64 bits: short, and spread well enough for ids within one trace.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for word in [spanID] + words {
      for byte in word.utf8 + [0] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    return TraceContext(
      traceID: traceID, spanID: Self.hex(max(hash, 1)), isSampled: isSampled)
  }

  package var traceparent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

  private static func hex(_ number: UInt64) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  private static func isLowerHexDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
  }
}

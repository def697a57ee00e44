import HTTPServing

/// W3C Trace Context, version 00: `00-<32 hex>-<16 hex>-<2 hex>`.
enum Traceparent {
  /// The request's own when it is valid, else a new one.
  static func of(_ request: HTTPRequest) -> String {
    if let given = request.header("traceparent"), isValid(given) { return given }
    return "00-\(RequestID.made())-\(RequestID.made().prefix(16))-01"
  }

  /// The 32 digits that all spans of one trace share.
  static func traceID(_ traceparent: String) -> String {
    String(traceparent.dropFirst(3).prefix(32))
  }

  private static func isValid(_ text: String) -> Bool {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    return parts.map(\.utf8.count) == [2, 32, 16, 2]
      && parts.allSatisfy { $0.utf8.allSatisfy(isLowerHexDigit) }
      && parts[0] == "00" && parts[1].contains { $0 != "0" } && parts[2].contains { $0 != "0" }
  }

  private static func isLowerHexDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
  }
}

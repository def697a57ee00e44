import Foundation

/// Where traces go, in the words of OpenTelemetry's own environment variables.
package struct OTLPSettings: Hashable, Sendable {
  /// `http(s)://host[:port][/path]` with `/v1/traces` behind.
  package let tracesURL: String
  /// Sent with each request, such as a collector's credentials.
  package let headers: [String: String]

  package struct Complaint: Error, CustomStringConvertible {
    package let description: String
  }

  /// - Parameters:
  ///   - endpoint: `OTEL_EXPORTER_OTLP_ENDPOINT`, the collector's base.
  ///   - headers: `OTEL_EXPORTER_OTLP_HEADERS` as read.
  /// - Throws: ``Complaint`` when the endpoint is no http or https URL.
  package init(endpoint: String, headers: [String: String] = [:]) throws(Complaint) {
    guard let parts = URLComponents(string: endpoint),
      ["http", "https"].contains(parts.scheme?.lowercased()), parts.host?.isEmpty == false,
      parts.query == nil, parts.fragment == nil
    else { throw Complaint(description: "want http(s)://host[:port], as http://127.0.0.1:4318") }
    tracesURL = (endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint) + "/v1/traces"
    self.headers = headers
  }

  /// Reads `name=value,name=value`, values percent-encoded.
  ///
  /// - Throws: ``Complaint`` naming nothing of the value, which is a secret.
  package static func headers(_ text: String) throws(Complaint) -> [String: String] {
    var read: [String: String] = [:]
    for pair in text.split(separator: ",") {
      let parts = pair.split(separator: "=", maxSplits: 1).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard parts.count == 2, !parts[0].isEmpty, let value = parts[1].removingPercentEncoding,
        !value.contains(where: \.isNewline)
      else { throw Complaint(description: "want name=value, separated by commas") }
      read[parts[0].lowercased()] = value
    }
    return read
  }
}

/// What an operator may set, and the limits.
package struct WebPushTransportSettings: Hashable, Sendable {
  /// PEM authorities to trust instead of the system's.
  package var authorityFile: String?
  /// Requests in flight at most.
  package var requestsMax = 200
  /// From looking up the name to the end of the TLS handshake.
  package var connectTimeout: Duration = .seconds(5)
  /// From handing over a request to its answer's last octet.
  package var requestTimeout: Duration = .seconds(15)
  /// One connection carries many requests where the service speaks HTTP/2.
  package var connectionsPerHostMax = 8
  package var connectionsMax = 64

  package init() {}
}

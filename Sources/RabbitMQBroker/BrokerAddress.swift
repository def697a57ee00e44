import Foundation

/// Where the broker is and who we are there: `amqp://user:password@host:port/vhost`.
///
/// Percent-encoding is undone in user, password and virtual host. Without a path, and with `/`, the
/// virtual host is `/`. Ports default to 5672, and to 5671 for `amqps`.
package struct BrokerAddress: Hashable, Sendable, CustomStringConvertible {
  /// Debian's and most others' bundle of certificate authorities.
  package static let systemAuthoritiesFile = "/etc/ssl/certs/ca-certificates.crt"

  package let isTLS: Bool
  package let host: String
  package let port: UInt16
  package let user: String
  package let password: String
  package let virtualHost: String
  /// PEM file of the authorities that may vouch for the broker; used with `amqps` only.
  package let authoritiesFile: String

  /// Reads the URL; `authoritiesFile` is LOCKSTEP_AMQP_CA_FILE, nil takes the system's authorities.
  ///
  /// - Throws: ``BrokerAddressRefused``, which never repeats the password.
  package init(url: String, authoritiesFile: String? = nil) throws(BrokerAddressRefused) {
    guard let scheme = url.range(of: "://") else {
      throw BrokerAddressRefused("it does not begin with amqp:// or amqps://")
    }
    switch url[..<scheme.lowerBound].lowercased() {
    case "amqp": isTLS = false
    case "amqps": isTLS = true
    default: throw BrokerAddressRefused("it does not begin with amqp:// or amqps://")
    }
    var rest = url[scheme.upperBound...]
    guard !rest.contains(where: { "?#".contains($0) }) else {
      throw BrokerAddressRefused("it has a query or fragment; neither is supported")
    }
    var path = Substring()
    if let slash = rest.firstIndex(of: "/") {
      path = rest[slash...].dropFirst()
      rest = rest[..<slash]
    }
    var account: Substring = "guest:guest"
    if let at = rest.lastIndex(of: "@") {
      account = rest[..<at]
      rest = rest[at...].dropFirst()
    }
    let parts = account.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let user = parts[0].removingPercentEncoding, !user.isEmpty, parts.count == 2,
      let password = parts[1].removingPercentEncoding
    else { throw BrokerAddressRefused("user:password is wanted before the @") }
    guard let virtualHost = path.removingPercentEncoding, !path.contains("/"),
      virtualHost.utf8.count <= 255
    else { throw BrokerAddressRefused("its virtual host must be one path segment, / as %2F") }
    (host, port) = try Self.hostAndPort(rest, defaultPort: isTLS ? 5671 : 5672)
    self.user = user
    self.password = password
    self.virtualHost = virtualHost.isEmpty ? "/" : virtualHost
    self.authoritiesFile = authoritiesFile ?? Self.systemAuthoritiesFile
  }

  private static func hostAndPort(_ text: Substring, defaultPort: UInt16)
    throws(BrokerAddressRefused) -> (String, UInt16)
  {
    var (host, port) = (text, Substring())
    if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
      host = text[..<end].dropFirst()
      port = text[end...].dropFirst()
    } else if let colon = text.firstIndex(of: ":") {
      host = text[..<colon]
      port = text[colon...]
    }
    guard !host.isEmpty else { throw BrokerAddressRefused("it names no host") }
    if port.isEmpty { return (String(host), defaultPort) }
    guard port.first == ":", let number = UInt16(port.dropFirst()), number > 0 else {
      throw BrokerAddressRefused("its port must be a number from 1 to 65535")
    }
    return (String(host), number)
  }

  /// Without the password.
  package var description: String {
    let shown = host.contains(":") ? "[\(host)]" : host
    let segment = virtualHost == "/" ? "" : virtualHost
    return "\(isTLS ? "amqps" : "amqp")://\(user)@\(shown):\(port)/\(segment)"
  }
}

/// The URL of the broker cannot be used.
package struct BrokerAddressRefused: Error, Hashable, CustomStringConvertible {
  package let reason: String
  init(_ reason: String) { self.reason = reason }
  package var description: String {
    "the broker's URL must look like amqp://user:password@host:5672/vhost: \(reason)"
  }
}

/// How long to wait for the broker, and how much at once. The defaults are what production uses.
package struct BrokerLimits: Hashable, Sendable {
  /// To open the socket, with TLS.
  package var connecting = Duration.seconds(10)
  /// For each answer during the login and to each call.
  package var calling = Duration.seconds(10)
  /// For the broker's word on one window of published messages.
  package var confirming = Duration.seconds(20)
  /// For the good-bye.
  package var closing = Duration.seconds(2)
  /// Between heartbeats; a link that was silent for two of them is dead. Whole seconds.
  package var heartbeat = Duration.seconds(15)
  /// How long the kernel tries to get sent bytes acknowledged (TCP_USER_TIMEOUT).
  package var unacknowledgedBytes = Duration.seconds(10)
  /// How many published messages wait for their confirm at most.
  package var window = 500
  /// RabbitMQ 4 refuses larger ones by default.
  package var body_bytes = 16 * 1024 * 1024
  /// All headers of one message together: they must fit into one frame.
  package var headers_bytes = 64 * 1024
  /// Below 8192 RabbitMQ 4.1 refuses.
  package var frame_bytes: Int32 = 131_072

  package init() {}
}

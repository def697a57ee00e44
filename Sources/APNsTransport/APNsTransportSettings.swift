import Foundation
import HTTP2
import Pushes

/// Where APNs is, and how hard the transport may lean on it.
package struct APNsTransportSettings: Sendable {
  /// Scheme `https`; the port may be left out (443).
  package var servers: [PushEnvironment: URL]
  /// PEM; nil: the system's store.
  package var authorityFile: String?
  /// Of one environment, for proven tokens; opened as they are needed, then kept.
  package var connectionsPerEnvironment = 2
  /// Of one environment, all of them: the probation connection and those that only finish their
  /// streams too.
  package var connectionsMax = 6
  /// Open at once on one connection, should SETTINGS allow more.
  package var streamsMax = 1000
  /// Requests without a result, of the whole transport.
  package var inFlightMax = 4000
  /// Requests taken beyond what the connections have room for.
  package var waitingMax = 64
  /// From ``APNsTransport/send(_:)`` to the answer.
  package var requestTimeout = Duration.seconds(10)
  /// How often the transport sends one request again by itself, APNs never having processed it. A
  /// GOAWAY can meet one several times when more is in flight than a connection lives to answer.
  package var resendsMax = 10
  /// A connection without traffic for so long is asked for a sign of life.
  package var idlePing = Duration.seconds(3600)
  /// So is one that has left requests unanswered for so long, and not sent a byte. With
  /// ``pingTimeout`` it bounds how long a network that swallows everything goes unnoticed: below
  /// ten seconds, while Apple's servers answer within some hundred milliseconds.
  package var silencePing = Duration.seconds(3)
  /// How long a connection rests after 429 TooManyProviderTokenUpdates.
  package var parkTime = Duration.seconds(20 * 60)
  package var reconnectDelayLeast = Duration.milliseconds(250)
  package var reconnectDelayMost = Duration.seconds(30)
  package var connectTimeout = Duration.seconds(5)
  package var tlsTimeout = Duration.seconds(5)
  package var pingTimeout = Duration.seconds(5)

  /// Apple's servers: developer.apple.com, "Sending notification requests to APNs".
  package static let apple: [PushEnvironment: URL?] = [
    .production: URL(string: "https://api.push.apple.com"),
    .sandbox: URL(string: "https://api.sandbox.push.apple.com"),
  ]

  package init(
    servers: [PushEnvironment: URL] = Self.apple.compactMapValues { $0 },
    authorityFile: String? = nil
  ) {
    self.servers = servers
    self.authorityFile = authorityFile
  }

  /// How to reach one environment.
  ///
  /// - Throws: ``APNsTransportError`` when it has no server or the address cannot be used.
  func client(for environment: PushEnvironment) throws(APNsTransportError) -> HTTP2Client.Settings {
    guard let url = servers[environment] else {
      throw APNsTransportError("no APNs server is set for \(environment.rawValue)")
    }
    guard url.scheme == "https", let host = url.host, !host.isEmpty else {
      throw APNsTransportError("APNs server \(url) is not an https address with a host")
    }
    guard let port = UInt16(exactly: url.port ?? 443), port > 0 else {
      throw APNsTransportError("APNs server \(url) has no usable port")
    }
    let plainHost = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    var client = HTTP2Client.Settings(host: plainHost, port: port)
    client.connectTimeout = connectTimeout
    client.tlsTimeout = tlsTimeout
    client.pingTimeout = pingTimeout
    client.userTimeout = requestTimeout
    return client
  }
}

/// The transport cannot work with what it was given.
package struct APNsTransportError: Error, Hashable, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

import Glibc
import ServiceRuntime
import Synchronization

/// An HTTP/2 server over TLS on this machine's own address, one thread: what stands in for APNs in
/// the simulator and in tests.
package final class HTTP2Server: Sendable {
  package struct Settings: Sendable {
    /// What SETTINGS say to a new connection.
    package var maxConcurrentStreams: UInt32
    /// What they say before: until the first answer of 200 on the connection, as APNs does for a
    /// sender with a provider token. Nil: the whole at once. Asked for each connection, on the
    /// server's thread.
    package var streamsAtStart: @Sendable () -> UInt32?
    /// More are refused.
    package var connectionsMax: Int

    package init(
      maxConcurrentStreams: UInt32 = 1000,
      streamsAtStart: @escaping @Sendable () -> UInt32? = { nil }, connectionsMax: Int = 4096
    ) {
      self.maxConcurrentStreams = maxConcurrentStreams
      self.streamsAtStart = streamsAtStart
      self.connectionsMax = connectionsMax
    }
  }

  package let port: UInt16
  private let mailbox: ServerMailbox
  private let thread: OwnedThread

  /// Listens and serves at once.
  ///
  /// - Parameters:
  ///   - loopback: where it listens.
  ///   - port: 0: the kernel chooses one, see ``port``.
  ///   - certificateFile: PEM, the server's certificate first.
  ///   - keyFile: PEM.
  ///   - settings: limits.
  ///   - elapsed: the monotonic clock that times delayed answers.
  ///   - handler: called on the server's thread once a request is whole; it must not block.
  /// - Throws: ``TLSError`` or ``SocketError``.
  package init(
    on loopback: Loopback = .v4, port: UInt16 = 0, certificateFile: String, keyFile: String,
    settings: Settings = Settings(),
    elapsed: @escaping @Sendable () -> Duration = monotonicTime,
    handler: @escaping @Sendable (HTTP2Request) -> HTTP2Reply
  ) throws {
    let tls = try ServerTLS(certificateFile: certificateFile, keyFile: keyFile)
    let listener = try Listener(loopback, port: port)
    let mailbox = ServerMailbox()
    self.port = listener.port
    self.mailbox = mailbox
    let loop = ServerLoop(
      tls: tls, listener: listener, mailbox: mailbox, settings: settings, elapsed: elapsed,
      handler: handler)
    // Handed over whole: only the new thread touches it from here on.
    nonisolated(unsafe) let handedOver = loop
    thread = OwnedThread.start(named: "http2-server") { handedOver.run() }
  }

  /// Tells one connection, or all of them and those to come, how many streams it may have open.
  package func setMaxConcurrentStreams(_ count: UInt32, connection: Int? = nil) {
    mailbox.post(.maxConcurrentStreams(count, connection: connection))
  }

  /// Sends GOAWAY on a connection, nil: on all. Streams that are open are still answered.
  package func goAway(debug: String = "", connection: Int? = nil) {
    mailbox.post(.goAway(debug: debug, connection: connection))
  }

  /// Closes a connection at once, nil: all.
  package func drop(connection: Int? = nil) { mailbox.post(.drop(connection: connection)) }

  /// How many connections are open now.
  package var openConnections: Int { mailbox.openConnections.load(ordering: .relaxed) }

  /// How many connections were ever taken.
  package var connectionsTaken: Int { mailbox.connectionsTaken.load(ordering: .relaxed) }

  /// Closes all connections and the port. Returns at once; ``hasStopped`` tells when it is done.
  package func stop() { mailbox.post(.stop) }

  package var hasStopped: Bool { thread.hasEnded }

  deinit { stop() }
}

/// Time since an arbitrary start; never steps.
package func monotonicTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}

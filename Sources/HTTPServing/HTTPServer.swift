import CLinux
import CMicroHTTPD
import Glibc
import ServiceRuntime
import Synchronization

/// An HTTP/1.1 server on libmicrohttpd. The handler runs on the library's threads.
///
/// What the handler never sees is refused here: ambiguous framing, a body or header over its limit.
/// A few things the library refuses itself, with its own page and without `x-request-id`, and then
/// closes the connection: a request line or a `Content-Length` it cannot read, a header beyond
/// ``Service/connectionMemoryBytes``, an unknown HTTP version. At such a `Content-Length` 0.9.75
/// sends its head twice, and asks nobody before it does.
package final class HTTPServer: Sendable {
  private let service: Service
  private let daemon: Mutex<Daemon?>
  /// The port it listens on, chosen by the kernel when 0 was asked for.
  package let port: UInt16

  // The library's handle may be used from any thread; it is only freed once, under the mutex.
  private struct Daemon: @unchecked Sendable { let pointer: OpaquePointer }

  /// Starts listening and serving.
  ///
  /// `refusal` says what the API answers to a request that was refused before the handler.
  /// `handler` is called on several threads at once; it must be formed in an ordinary function, not
  /// at top level of `main.swift`.
  ///
  /// - Throws: ``HTTPServerError`` when the address cannot be listened on.
  package init(
    address: ListenAddress, limits: HTTPLimits = HTTPLimits(), threading: HTTPThreading = .pool(2),
    log: Log,
    refusal: @escaping @Sendable (HTTPRefusal) -> HTTPResponse = HTTPServer.plainRefusal,
    handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) throws(HTTPServerError) {
    let (listener, port) = try address.listen()
    service = Service(
      limits: limits, threading: threading, log: log, refusal: refusal, handler: handler)
    self.port = port
    guard let pointer = service.start(on: listener) else { throw .cannotStart(on: address) }
    daemon = Mutex(Daemon(pointer: pointer))
    service.startSweeping()
    log.info("http.listening", ["address": "\(address)", "port": "\(port)"])
  }

  deinit { stop() }

  /// The refusal as text.
  package static let plainRefusal: @Sendable (HTTPRefusal) -> HTTPResponse = {
    .text($0.status, "\($0)\n")
  }

  /// Connections open now, also the silent ones.
  package var connections: Int { service.connections.count }

  /// Takes no new connections; each answer on an open one closes it, and streams end. Returns at
  /// once: wait for ``connections`` to fall to 0, then ``stop()``.
  package func drain() {
    daemon.withLock { daemon in
      guard let daemon, !service.draining.exchange(true, ordering: .acquiringAndReleasing) else {
        return
      }
      let listener = MHD_quiesce_daemon(daemon.pointer)
      if listener >= 0 { close(listener) }
    }
  }

  /// Closes everything and returns when no handler runs any more. Never call it from a handler.
  package func stop() {
    service.draining.store(true, ordering: .releasing)
    service.stopping.raise()
    daemon.withLock { daemon in
      if let daemon { MHD_stop_daemon(daemon.pointer) }
      daemon = nil
    }
  }
}

import CMicroHTTPD
import Foundation
import ServiceRuntime
import Synchronization

/// What the library's threads work with: the settings, and the open connections.
final class Service: Sendable {
  let limits: HTTPLimits
  let threading: HTTPThreading
  let log: Log
  let refusal: @Sendable (HTTPRefusal) -> HTTPResponse
  let handler: @Sendable (HTTPRequest) -> HTTPResponse
  let connections = OpenConnections()
  let draining = Atomic<Bool>(false)
  let stopping = StopSignal()

  /// What the library keeps per connection for reading and writing. A header beyond our own limit
  /// and below about half of this is refused by us, with our own words.
  static let connectionMemoryBytes = 128 * 1024
  /// How often slow and vanished peers are looked for, at least. A look costs two system calls per
  /// connection.
  static let sweepInterval: Duration = .milliseconds(250)
  /// How much of a chunked body that is too long is read before the connection is cut, as a
  /// multiple of the limit.
  static let discardedBodiesMax = 16

  init(
    limits: HTTPLimits, threading: HTTPThreading, log: Log,
    refusal: @escaping @Sendable (HTTPRefusal) -> HTTPResponse,
    handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse
  ) {
    self.limits = limits.fitting(descriptorsMax: ProcessMetrics.descriptorsMax)
    self.threading = threading
    self.log = log
    self.refusal = refusal
    self.handler = handler
  }

  /// - Returns: the library's handle, which must be stopped before this object goes.
  func start(on listener: Int32) -> OpaquePointer? {
    let flags: UInt32
    let threads: Int
    switch threading {
    case .pool(let count):
      flags = MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_USE_ITC.rawValue
      threads = count
    case .perConnection:
      flags =
        MHD_USE_THREAD_PER_CONNECTION.rawValue | MHD_USE_INTERNAL_POLLING_THREAD.rawValue
        | MHD_USE_POLL.rawValue | MHD_USE_ITC.rawValue
      threads = 1
    }
    return lockstep_start_daemon(
      flags, listener, UInt32(threads), UInt32(limits.connectionsMax),
      UInt32(limits.idleSecondsMax), Self.connectionMemoryBytes, handleRequest, requestBegan,
      requestEnded, connectionChanged, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Looks for peers that take too long, until the server stops.
  func startSweeping() {
    OwnedThread.start(named: "http-sweep") { [self] in
      while !stopping.wait(atMost: Self.sweepInterval) {
        let cut = connections.sweep(limits)
        if cut > 0 { log.info("http.cut_off", ["connections": "\(cut)"]) }
      }
    }
  }
}

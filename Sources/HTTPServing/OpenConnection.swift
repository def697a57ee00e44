import CLinux
import CMicroHTTPD
import Synchronization

/// One connection and how far its current request has come. The library's thread moves it on, the
/// sweeper reads it.
final class OpenConnection: Sendable {
  private enum Phase {
    /// Between requests; so many octets had come in before.
    case idle(receivedBytes: UInt64)
    case receiving(since: ContinuousClock.Instant)
    /// The handler has the word; the peer owes nothing.
    case handling
    case answering(since: ContinuousClock.Instant)
    case streaming
  }

  private struct Progress {
    var phase: Phase
    /// The sweeper's last look found that the peer sends no more.
    var hasEnded = false
  }

  private let socket: Int32
  private let progress: Mutex<Progress>

  init(socket: Int32) {
    self.socket = socket
    progress = Mutex(Progress(phase: .idle(receivedBytes: 0)))
  }

  /// The request line is there. The sweeper may have seen the request's first octet earlier.
  func requestBegan() {
    progress.withLock {
      if case .receiving = $0.phase { return }
      $0 = Progress(phase: .receiving(since: .now))
    }
  }

  func handlerBegan() { progress.withLock { $0 = Progress(phase: .handling) } }

  func answerBegan(isStream: Bool) {
    progress.withLock { $0 = Progress(phase: isStream ? .streaming : .answering(since: .now)) }
  }

  func requestEnded() {
    let received = lockstep_bytes_received(socket)
    progress.withLock { $0 = Progress(phase: .idle(receivedBytes: received)) }
  }

  /// Cuts the connection off when its request or answer has taken longer than `limit`, or when a
  /// request can never be complete because its sender has gone.
  ///
  /// The library's own timeout counts silence only: a peer that sends one octet a second would
  /// stay for ever. Nothing tells us of a request's first octet, so a connection between requests
  /// is asked whether any came in. And an end that comes together with data is not noticed by the
  /// library (0.9.75 with epoll) until that timeout: two thousand uploads given up in a row would
  /// keep everybody out for half a minute.
  ///
  /// - Returns: whether it was cut off.
  func cutOff(after limit: Duration, now: ContinuousClock.Instant) -> Bool {
    progress.withLock { progress in
      var isOver = false
      switch progress.phase {
      case .idle(let receivedBytes):
        if lockstep_bytes_received(socket) > receivedBytes {
          progress.phase = .receiving(since: now)
        }
        isOver = hasEnded(&progress)
      case .receiving(let since): isOver = now - since > limit || hasEnded(&progress)
      case .answering(let since): isOver = now - since > limit
      case .handling, .streaming: break
      }
      guard isOver else { return false }
      // The library sees the end of the stream, and closes the socket on its own thread.
      shutdown(socket, Int32(SHUT_RDWR))
      progress.phase = .handling
      return true
    }
  }

  /// Whether the library has read everything up to the peer's end, and did at the last look too:
  /// at the first it may just be about to act on it.
  private func hasEnded(_ progress: inout Progress) -> Bool {
    var octet: UInt8 = 0
    let isAtEnd = recv(socket, &octet, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
    defer { progress.hasEnded = isAtEnd }
    return isAtEnd && progress.hasEnded
  }
}

/// All open connections of a server.
final class OpenConnections: Sendable {
  private let all = Mutex<[ObjectIdentifier: OpenConnection]>([:])

  var count: Int { all.withLock { $0.count } }

  func add(_ connection: OpenConnection) {
    all.withLock { $0[ObjectIdentifier(connection)] = connection }
  }

  /// Call it before the socket is closed: what is not in here is never touched by the sweeper.
  func remove(_ connection: OpenConnection) {
    all.withLock { $0[ObjectIdentifier(connection)] = nil }
  }

  /// Cuts off all that have taken longer than `limit`.
  ///
  /// The lock is held meanwhile, so that no socket is closed, and its number given to another
  /// connection, between look and cut.
  ///
  /// - Returns: how many were cut off.
  func sweep(limit: Duration) -> Int {
    all.withLock { connections in
      let now = ContinuousClock.now
      return connections.values.count { $0.cutOff(after: limit, now: now) }
    }
  }
}

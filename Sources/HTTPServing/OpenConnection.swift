import CLinux
import CMicroHTTPD
import Synchronization

/// One connection and how far its current request has come. The library's thread moves it on, the
/// sweeper reads it.
final class OpenConnection: Sendable {
  private enum Phase {
    /// Between requests; so many octets had come in before.
    case idle(receivedBytes: UInt64, since: ContinuousClock.Instant)
    case receivingHead(since: ContinuousClock.Instant)
    /// The request began at that moment, not its body.
    case receivingBody(since: ContinuousClock.Instant)
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
    // Whoever connects has something to ask: silence is a head that does not come.
    progress = Mutex(Progress(phase: .receivingHead(since: .now)))
  }

  /// The request line is there. The sweeper may have seen the request's first octet earlier.
  func requestBegan() {
    progress.withLock {
      if case .receivingHead = $0.phase { return }
      $0 = Progress(phase: .receivingHead(since: .now))
    }
  }

  /// The header is whole.
  func headEnded() {
    progress.withLock {
      guard case .receivingHead(let since) = $0.phase else { return }
      $0 = Progress(phase: .receivingBody(since: since))
    }
  }

  func handlerBegan() { progress.withLock { $0 = Progress(phase: .handling) } }

  func answerBegan(isStream: Bool) {
    progress.withLock { $0 = Progress(phase: isStream ? .streaming : .answering(since: .now)) }
  }

  func requestEnded() {
    let received = lockstep_bytes_received(socket)
    progress.withLock { $0 = Progress(phase: .idle(receivedBytes: received, since: .now)) }
  }

  /// Cuts the connection off when its peer has held it for longer than it may, or when a request
  /// can never be complete because its sender has gone.
  ///
  /// The library's own timeout counts silence only: a peer that sends one octet a second would
  /// stay for ever. Nothing tells us of a request's first octet, so a connection between requests
  /// is asked whether any came in. And an end that comes together with data is not noticed by the
  /// library (0.9.75 with epoll) until that timeout: two thousand uploads given up in a row would
  /// keep everybody out for half a minute.
  ///
  /// - Returns: whether it was cut off.
  func cutOff(after limits: Deadlines, now: ContinuousClock.Instant) -> Bool {
    progress.withLock { progress in
      var isOver = false
      switch progress.phase {
      case .idle(let receivedBytes, let since):
        if lockstep_bytes_received(socket) > receivedBytes {
          progress.phase = .receivingHead(since: now)
          isOver = owes(.zero, of: limits.head, &progress)
        } else {
          isOver = owes(now - since, of: limits.idle, &progress)
        }
      case .receivingHead(let since):
        isOver = owes(now - since, of: limits.head, &progress)
      case .receivingBody(let since):
        isOver = owes(now - since, of: limits.request, &progress)
      case .answering(let since): isOver = now - since > limits.request
      case .handling, .streaming: break
      }
      guard isOver else { return false }
      // The library sees the end of the stream, and closes the socket on its own thread.
      shutdown(socket, Int32(SHUT_RDWR))
      progress.phase = .handling
      return true
    }
  }

  /// Whether the peer has sent for too long, or has gone before it had sent all: the library has
  /// read everything up to its end, and did at the last look too; at the first it may just be about
  /// to act on it. While something lies here unread it is the peer who waits for us.
  private func owes(_ time: Duration, of limit: Duration, _ progress: inout Progress) -> Bool {
    var octet: UInt8 = 0
    let unread = recv(socket, &octet, 1, Int32(MSG_PEEK | MSG_DONTWAIT))
    defer { progress.hasEnded = unread == 0 }
    return unread <= 0 && time > limit || unread == 0 && progress.hasEnded
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

  /// Cuts off all that their peers have held for longer than `limits` allow.
  ///
  /// The lock is held meanwhile, so that no socket is closed, and its number given to another
  /// connection, between look and cut.
  ///
  /// - Returns: how many were cut off.
  func sweep(_ limits: HTTPLimits) -> Int {
    all.withLock { connections in
      let now = ContinuousClock.now
      let deadlines = limits.deadlines(connections: connections.count)
      return connections.values.count { $0.cutOff(after: deadlines, now: now) }
    }
  }
}

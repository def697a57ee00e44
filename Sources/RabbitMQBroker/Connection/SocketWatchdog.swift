import Glibc
import Pipeline
import ServiceRuntime
import Synchronization

/// Shuts down sockets whose owner has been inside one library call for too long.
///
/// librabbitmq 0.11 has calls without a time limit (publish on a dead link; research/queues.md 2e).
/// One thread for the whole process looks once a second; a shut socket makes the call return with
/// an error. It reads the machine's clock: what it watches over are the kernel's sockets.
final class SocketWatchdog: Sendable {
  static let shared = SocketWatchdog()
  private static let period_ms: Int32 = 1000

  private struct Guarded {
    let descriptor: Int32
    /// In ``SystemTime``'s elapsed time; nil while the owner is outside of the library.
    var deadline: Duration?
  }

  private struct State {
    var isRunning = false
    var next = 0
    var guarded: [Int: Guarded] = [:]
  }

  private let state = Mutex(State())

  /// - Returns: a key for the other calls. Call ``forget(_:)`` before the descriptor is closed.
  func watch(_ descriptor: Int32) -> Int {
    let (key, mustStart) = state.withLock { state in
      state.next += 1
      state.guarded[state.next] = Guarded(descriptor: descriptor)
      defer { state.isRunning = true }
      return (state.next, !state.isRunning)
    }
    if mustStart {
      OwnedThread.start(named: "amqp-watchdog") { [self] in
        while true {
          poll(nil, 0, Self.period_ms)
          shutOverdue(now: SystemTime().elapsed())
        }
      }
    }
    return key
  }

  func arm(_ key: Int, for limit: Duration) {
    let deadline = SystemTime().elapsed() + limit
    state.withLock { $0.guarded[key]?.deadline = deadline }
  }

  func disarm(_ key: Int) { state.withLock { $0.guarded[key]?.deadline = nil } }

  func forget(_ key: Int) { _ = state.withLock { $0.guarded.removeValue(forKey: key) } }

  // Under the lock: the owner forgets before it closes, so the number is still this socket's.
  private func shutOverdue(now: Duration) {
    state.withLock { state in
      for (key, guarded) in state.guarded {
        guard let deadline = guarded.deadline, deadline < now else { continue }
        shutdown(guarded.descriptor, Int32(SHUT_RDWR))
        state.guarded[key]?.deadline = nil
      }
    }
  }
}

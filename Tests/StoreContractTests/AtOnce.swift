import Foundation
import Synchronization

/// Runs `body` on `count` threads at once, with the thread's number from 0, and waits for all.
///
/// - Returns: what each gave, in the order of their numbers.
func atOnce<Value: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) throws -> Value
) -> [Result<Value, any Error>] {
  let results = Mutex<[Int: Result<Value, any Error>]>([:])
  DispatchQueue.concurrentPerform(iterations: count) { number in
    let result = Result { try body(number) }
    results.withLock { $0[number] = result }
  }
  return results.withLock { found in (0..<count).compactMap { found[$0] } }
}

/// Where two threads meet, so that each is in the middle of its work when the other is. Where that
/// cannot be, as one writer keeps the other out, the first waits in vain for a moment and goes on.
final class Meeting: Sendable {
  private static let patience_ms = 60
  private let come = Mutex(0)
  private let other = DispatchSemaphore(value: 0)

  /// Once both have come nobody waits any more.
  func attend() {
    let place = come.withLock { count in
      count += 1
      return count
    }
    if place == 1 { _ = other.wait(timeout: .now() + .milliseconds(Self.patience_ms)) }
    if place == 2 { other.signal() }
  }
}

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

import Glibc

/// Waits for something that another thread does, and says whether it became true in time. The one
/// place where tests wait.
package func becomesTrue(within limit: Duration = .seconds(10), _ condition: () -> Bool) -> Bool {
  let end = ContinuousClock.now + limit
  while !condition() {
    guard ContinuousClock.now < end else { return false }
    _ = poll(nil, 0, 2)
  }
  return true
}

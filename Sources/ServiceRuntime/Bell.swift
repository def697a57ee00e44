import CLinux
import Glibc

/// Wakes one loop from other threads: rung when there is something to do.
package final class Bell: Sendable {
  /// Readable while a ring has not been heard.
  package let descriptor: Int32

  package init() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    precondition(descriptor >= 0, "no descriptor left for a bell")
  }

  deinit { close(descriptor) }

  package func ring() {
    var one: UInt64 = 1
    // Full means that it rings already.
    _ = Glibc.write(descriptor, &one, 8)
  }

  /// Waits for a ring or for `stop`, at most `limit`, and hears all rings so far.
  package func wait(atMost limit: Duration, or stop: StopSignal) {
    Poll.wait([(descriptor, Poll.readable), (stop.descriptor, Poll.readable)], atMost: limit)
    var heard: UInt64 = 0
    _ = read(descriptor, &heard, 8)
  }
}

import CLinux
import Glibc

/// poll(2): waits on several descriptors at once.
package enum Poll {
  package static let readable = Int16(POLLIN)
  package static let writable = Int16(POLLOUT)

  /// Returns as soon as one of them is ready, or after `limit`. A wait for many descriptors that
  /// the system refuses is only shorter than asked for.
  package static func wait(
    _ descriptors: [(descriptor: Int32, events: Int16)], atMost limit: Duration
  ) {
    var watched = descriptors.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
    let milliseconds = (limit / Duration.milliseconds(1)).rounded(.up)
    _ = poll(&watched, nfds_t(watched.count), Int32(min(max(milliseconds, 0), 60_000)))
  }
}

extension Poll {
  /// Whether reading would not wait.
  package static func isReadable(_ descriptor: Int32) -> Bool {
    var watched = pollfd(fd: descriptor, events: readable, revents: 0)
    return poll(&watched, 1, 0) > 0
  }
}

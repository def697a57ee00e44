import CLinux
import Glibc
import Synchronization

/// Says to every loop of the process that it should end. Raised once, by SIGTERM, SIGINT or a
/// service that failed; never lowered.
package final class StopSignal: Sendable {
  /// Readable once raised: poll it together with what a loop waits for.
  package let descriptor: Int32
  private let raised = Atomic<Bool>(false)

  package init() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    precondition(descriptor >= 0, "no descriptor left for the stop signal")
  }

  deinit { close(descriptor) }

  package var isRaised: Bool { raised.load(ordering: .acquiring) }

  package func raise() {
    raised.store(true, ordering: .releasing)
    var one: UInt64 = 1
    // The counter stays readable from the first write on; a later one changes nothing.
    _ = Glibc.write(descriptor, &one, 8)
  }

  /// Waits until raised, at most `limit`.
  ///
  /// - Returns: whether it is raised.
  @discardableResult
  package func wait(atMost limit: Duration) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let milliseconds = limit / Duration.milliseconds(1)
    _ = poll(&watched, 1, Int32(min(max(milliseconds.rounded(.up), 0), 2_147_000_000)))
    return isRaised
  }

  /// Raises on SIGTERM and SIGINT. Call it before any thread is made: they inherit the mask.
  package func raiseOnTermination() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGTERM)
    sigaddset(&signals, SIGINT)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let source = signalfd(-1, &signals, Int32(SFD_CLOEXEC))
    Glibc.signal(SIGPIPE, SIG_IGN)
    OwnedThread.start(named: "signals") { [self] in
      var info = signalfd_siginfo()
      while read(source, &info, MemoryLayout<signalfd_siginfo>.size) > 0 { raise() }
    }
  }
}

import CLinux
import Glibc
import Synchronization

/// A thread with a name, as loops need one: it owns its connections and runs until its body
/// returns.
package final class OwnedThread: Sendable {
  private let ended = Atomic<Bool>(false)
  private let name: String

  private init(name: String) { self.name = name }

  package var hasEnded: Bool { ended.load(ordering: .acquiring) }

  /// `name`: at most 15 bytes are shown by the system.
  @discardableResult
  package static func start(named name: String, _ body: @escaping @Sendable () -> Void)
    -> OwnedThread
  {
    let thread = OwnedThread(name: name)
    let start = Start(thread: thread, body: body)
    var id = pthread_t()
    let code = pthread_create(&id, nil, entry, Unmanaged.passRetained(start).toOpaque())
    precondition(code == 0, "no thread \(name): \(String(cString: strerror(code)))")
    pthread_detach(id)
    return thread
  }

  private final class Start {
    let thread: OwnedThread
    let body: @Sendable () -> Void
    init(thread: OwnedThread, body: @escaping @Sendable () -> Void) {
      self.thread = thread
      self.body = body
    }
  }

  // A file-scope function: one formed inside `main` would be bound to the main actor and trap.
  private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
    { pointer in
      guard let pointer else { return nil }
      let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
      lockstep_name_this_thread(String(start.thread.name.prefix(15)))
      start.body()
      start.thread.ended.store(true, ordering: .releasing)
      return nil
    }
}

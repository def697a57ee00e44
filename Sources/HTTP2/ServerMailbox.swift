import CLinux
import Glibc
import Synchronization

/// Carries orders from any thread to the server's.
final class ServerMailbox: Sendable {
  enum Order: Sendable {
    case maxConcurrentStreams(UInt32, connection: Int?)
    case goAway(debug: String, connection: Int?)
    case drop(connection: Int?)
    case stop
  }

  /// Readable while orders wait.
  let descriptor: Int32
  let openConnections = Atomic<Int>(0)
  let connectionsTaken = Atomic<Int>(0)
  private let orders = Mutex<[Order]>([])

  init() {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    precondition(descriptor >= 0, "no descriptor left for the server's mailbox")
  }

  deinit { close(descriptor) }

  func post(_ order: Order) {
    orders.withLock { $0.append(order) }
    var one: UInt64 = 1
    _ = Glibc.write(descriptor, &one, 8)
  }

  func take() -> [Order] {
    var count: UInt64 = 0
    _ = Glibc.read(descriptor, &count, 8)
    return orders.withLock { orders in
      defer { orders.removeAll() }
      return orders
    }
  }
}

import CLinux
import Glibc
import ServiceRuntime
import Synchronization

/// One address to connect to, with its port.
struct SocketAddress: Sendable {
  private var storage: sockaddr_storage
  private let count: socklen_t

  init(_ address: UnsafePointer<sockaddr>, count: socklen_t) {
    storage = sockaddr_storage()
    self.count = count
    memcpy(&storage, address, min(Int(count), MemoryLayout<sockaddr_storage>.size))
  }

  /// Starts to connect without waiting.
  ///
  /// - Returns: the socket.
  func connect(userTimeout: Duration) throws(SocketError) -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let descriptor = socket(Int32(storage.ss_family), type, 0)
    guard descriptor >= 0 else { throw SocketError("no socket") }
    setNoDelay(descriptor)
    var milliseconds = UInt32(clamping: Int64(userTimeout / .milliseconds(1)))
    setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds,
      socklen_t(MemoryLayout<UInt32>.size))
    let code = withUnsafePointer(to: storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, count) == 0 ? 0 : errno
      }
    }
    guard code == 0 || code == EINPROGRESS else {
      Glibc.close(descriptor)
      throw SocketError("connect", code: code)
    }
    return descriptor
  }
}

/// Whom to ask for the addresses of a host.
package struct AddressResolver: Sendable {
  /// The system: `/etc/hosts`, DNS, whatever `nsswitch.conf` says.
  package static let system = AddressResolver { [$0] }

  let names: @Sendable (String) -> [String]

  /// `names` gives what is looked up in place of a host, in the order in which it is tried: other
  /// names, or addresses.
  package init(_ names: @escaping @Sendable (String) -> [String]) { self.names = names }
}

/// Looks a host name up in DNS on a thread of its own, since the system's call waits. Nothing is
/// cached: APNs moves.
final class AddressLookup: Sendable {
  enum Answer: Sendable {
    case addresses([SocketAddress])
    case failed(because: String)
  }

  /// Readable once the answer is there.
  let descriptor: Int32
  private let stored = Mutex<Answer?>(nil)

  var answer: Answer? { stored.withLock { $0 } }

  /// Begins at once. `host` is a name, or an address, which needs no thread.
  init(host: String, port: UInt16, resolver: AddressResolver) {
    descriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
    let names = resolver.names(host)
    let numeric = Self.resolve(names, port, flags: AI_NUMERICHOST)
    if case .addresses = numeric {
      settle(numeric)
      return
    }
    OwnedThread.start(named: "dns") { [self] in
      settle(Self.resolve(names, port, flags: AI_ADDRCONFIG))
    }
  }

  deinit { close(descriptor) }

  private func settle(_ answer: Answer) {
    stored.withLock { $0 = answer }
    var one: UInt64 = 1
    _ = Glibc.write(descriptor, &one, 8)
  }

  /// All of them, one after the other; fails with the first that does.
  private static func resolve(_ names: [String], _ port: UInt16, flags: Int32) -> Answer {
    var found: [SocketAddress] = []
    for name in names {
      switch resolve(name, port, flags: flags) {
      case .addresses(let addresses): found += addresses
      case .failed(let reason): return .failed(because: reason)
      }
    }
    return .addresses(found)
  }

  private static func resolve(_ host: String, _ port: UInt16, flags: Int32) -> Answer {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = flags | AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host, String(port), &hints, &list)
    guard code == 0 else {
      return .failed(because: "lookup of \(host): \(String(cString: gai_strerror(code)))")
    }
    defer { freeaddrinfo(list) }
    var found: [SocketAddress] = []
    var next = list
    while let entry = next {
      if let address = entry.pointee.ai_addr {
        found.append(SocketAddress(address, count: entry.pointee.ai_addrlen))
      }
      next = entry.pointee.ai_next
    }
    return .addresses(found)
  }
}

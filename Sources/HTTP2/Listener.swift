import CLinux
import Glibc

/// The system refused a socket.
package struct SocketError: Error, Hashable, CustomStringConvertible {
  package let description: String

  init(_ what: String, code: Int32 = errno) {
    description = "\(what): \(String(cString: strerror(code)))"
  }
}

/// This machine's own address in one of the two protocols.
package enum Loopback: Hashable, Sendable, CaseIterable {
  /// 127.0.0.1
  case v4
  /// ::1
  case v6

  package var text: String { self == .v4 ? "127.0.0.1" : "::1" }

  /// Calls `body` with the address and a port.
  fileprivate func withAddress<Result>(
    port: UInt16, _ body: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Result
  ) -> Result {
    func pass<Address>(_ address: inout Address) -> Result {
      var size = socklen_t(MemoryLayout<Address>.size)
      return withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, &size) }
      }
    }
    switch self {
    case .v4:
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      return pass(&address)
    case .v6:
      var address = sockaddr_in6()
      address.sin6_family = sa_family_t(AF_INET6)
      address.sin6_port = port.bigEndian
      address.sin6_addr = in6addr_loopback
      return pass(&address)
    }
  }
}

/// A listening socket on this machine's own address. Closes with it.
final class Listener {
  private static let backlog: Int32 = 512

  let descriptor: Int32
  let port: UInt16

  /// Port 0: the kernel chooses.
  init(_ loopback: Loopback = .v4, port: UInt16) throws(SocketError) {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    descriptor = socket(loopback == .v4 ? AF_INET : AF_INET6, type, 0)
    guard descriptor >= 0 else { throw SocketError("no socket") }
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    let descriptor = descriptor
    let (code, bound) = loopback.withAddress(port: port) { address, size in
      let isListening =
        bind(descriptor, address, size) == 0 && listen(descriptor, Self.backlog) == 0
        && getsockname(descriptor, address, &size) == 0
      // The port stands at the same place in both.
      let bound = UnsafeRawPointer(address).load(fromByteOffset: 2, as: UInt16.self)
      return (isListening ? 0 : errno, UInt16(bigEndian: bound))
    }
    self.port = bound
    guard code == 0 else {
      Glibc.close(descriptor)
      throw SocketError("port \(port)", code: code)
    }
  }

  deinit { Glibc.close(descriptor) }

  /// The next client that waits; nil when none does.
  func accept() -> Int32? {
    let client = lockstep_accept_nonblocking(descriptor)
    guard client >= 0 else { return nil }
    setNoDelay(client)
    return client
  }
}

/// Small writes leave at once.
func setNoDelay(_ descriptor: Int32) {
  var one: Int32 = 1
  setsockopt(
    descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
}

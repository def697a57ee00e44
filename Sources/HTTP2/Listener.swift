import CLinux
import Glibc

/// The system refused a socket.
package struct SocketError: Error, Hashable, CustomStringConvertible {
  package let description: String

  init(_ what: String, code: Int32 = errno) {
    description = "\(what): \(String(cString: strerror(code)))"
  }
}

/// A listening socket on 127.0.0.1. Closes with it.
final class Listener {
  private static let backlog: Int32 = 512

  let descriptor: Int32
  let port: UInt16

  /// Port 0: the kernel chooses.
  init(port: UInt16) throws(SocketError) {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    descriptor = socket(AF_INET, type, 0)
    guard descriptor >= 0 else { throw SocketError("no socket") }
    var one: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = descriptor
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, size) == 0 && listen(descriptor, Self.backlog) == 0
          && getsockname(descriptor, address, &size) == 0 ? 0 : errno
      }
    }
    self.port = UInt16(bigEndian: address.sin_port)
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

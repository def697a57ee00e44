import CLinux
import Glibc
import ServiceRuntime

/// Ports that the kernel calls free. All are held until the last is known, so they differ.
enum FreePorts {
  static func print(_ count: String) throws {
    guard let count = Int(count), (1...100).contains(count) else {
      throw CommandFailure(.usage, "free-ports wants a count from 1 to 100, not \(count)")
    }
    let sockets = try (0..<count).map { _ in try bound() }
    for socket in sockets { Swift.print(socket.port) }
    for socket in sockets { close(socket.descriptor) }
  }

  private static func bound() throws -> (descriptor: Int32, port: UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) | getsockname(descriptor, $0, &length)
      }
    }
    guard descriptor >= 0, code == 0 else {
      throw CommandFailure(.unavailable, "no free port: \(String(cString: strerror(errno)))")
    }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }
}

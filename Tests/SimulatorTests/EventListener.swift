import Glibc
import TestSupport

/// Reads server-sent events from a plain socket, as far as they have come.
final class EventListener {
  private let socket: Int32
  private var text = ""

  init(port: UInt16) {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = in_addr_t(UInt32(0x7f00_0001).bigEndian)
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    precondition(isConnected, "no connection to port \(port)")
    let request = "GET /events HTTP/1.1\r\nhost: 127.0.0.1:\(port)\r\n\r\n"
    precondition(write(socket, request, request.utf8.count) == request.utf8.count)
  }

  deinit { close(socket) }

  /// Waits until `words` were heard.
  func hears(_ words: String) -> Bool {
    becomesTrue {
      var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
      if poll(&watched, 1, 0) > 0 {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(socket, &bytes, bytes.count)
        text += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
      }
      return text.contains(words)
    }
  }
}

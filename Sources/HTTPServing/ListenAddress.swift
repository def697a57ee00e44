import CLinux
import Glibc

/// Where a server listens: `127.0.0.1:8080`, `[::1]:8080`, `:8080` for every address of the
/// machine. Port 0 lets the kernel choose.
package struct ListenAddress: Hashable, Sendable, CustomStringConvertible {
  package let host: String
  package let port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// - Throws: ``HTTPServerError/badAddress(given:)`` when `text` has not that form.
  package init(_ text: String) throws(HTTPServerError) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...])
    else { throw .badAddress(given: text) }
    var host = text[..<colon]
    if host.first == "[", host.last == "]" {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      throw .badAddress(given: text)
    }
    self.host = String(host)
    self.port = port
  }

  package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// How many connections wait to be accepted.
  static let backlogMax: Int32 = 511

  /// Opens a listening socket.
  ///
  /// - Returns: the socket and the port it got.
  func listen() throws(HTTPServerError) -> (socket: Int32, port: UInt16) {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(host.isEmpty ? nil : host, String(port), &hints, &found)
    guard code == 0, let first = found else {
      throw .cannotListen(on: self, reason: String(cString: gai_strerror(code)))
    }
    defer { freeaddrinfo(found) }
    let flags = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    let socket = Glibc.socket(first.pointee.ai_family, flags, 0)
    var yes: Int32 = 1
    let width = socklen_t(MemoryLayout<Int32>.size)
    guard socket >= 0, setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, width) == 0,
      bind(socket, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0,
      Glibc.listen(socket, Self.backlogMax) == 0
    else {
      let reason = String(cString: strerror(errno))
      if socket >= 0 { close(socket) }
      throw .cannotListen(on: self, reason: reason)
    }
    return (socket, Self.port(of: socket))
  }

  private static func port(of socket: Int32) -> UInt16 {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    withUnsafeMutableBytes(of: &address) {
      _ = getsockname(socket, $0.assumingMemoryBound(to: sockaddr.self).baseAddress, &length)
    }
    // The port stands at the same place in sockaddr_in and sockaddr_in6.
    return UInt16(bigEndian: address.sin6_port)
  }
}

/// Why a server did not start.
package enum HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
  case badAddress(given: String)
  case cannotListen(on: ListenAddress, reason: String)
  case cannotStart(on: ListenAddress)

  package var description: String {
    switch self {
    case .badAddress(let given): "\"\(given)\" is no address to listen on; want host:port"
    case .cannotListen(let address, let reason): "cannot listen on \(address): \(reason)"
    case .cannotStart(let address): "the HTTP server for \(address) could not start its threads"
    }
  }
}

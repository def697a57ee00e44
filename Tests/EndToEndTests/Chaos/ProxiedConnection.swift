import Glibc

/// One connection through the proxy: a socket to the client, one to the server, and what is on its
/// way between them. The proxy's thread owns it.
struct ProxiedConnection {
  let link: String
  private let client: Int32
  private let server: Int32
  /// From the client to the server.
  private var up = BytesUnderway()
  private var down = BytesUnderway()
  private var isUpClosed = false
  private var isDownClosed = false

  /// Nil when there is no socket for it.
  init?(link: String, client: Int32, serverPort: UInt16) {
    let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Sockets.nonBlocking, 0)
    guard server >= 0 else {
      close(client)
      return nil
    }
    var address = Sockets.loopback(serverPort)
    // Whether it succeeds is seen when it can be written to.
    _ = Sockets.withAddress(&address) { connect(server, $0, $1) }
    self.link = link
    self.client = client
    self.server = server
  }

  /// What to wait for: the client's socket first, then the server's.
  func interests(_ conduct: LinkConduct, at now: Duration) -> [pollfd] {
    guard !conduct.isBlackHole else { return [] }
    var (clientEvents, serverEvents) = (Int16(0), Int16(0))
    if up.hasRoom { clientEvents |= Int16(POLLIN) }
    if down.hasRoom { serverEvents |= Int16(POLLIN) }
    if down.ready(at: now) != nil { clientEvents |= Int16(POLLOUT) }
    if up.ready(at: now) != nil { serverEvents |= Int16(POLLOUT) }
    // One with nothing to wait for would report its end without pause.
    return [(client, clientEvents), (server, serverEvents)].filter { $0.1 != 0 }
      .map { pollfd(fd: $0.0, events: $0.1, revents: 0) }
  }

  var nextDue: Duration? { [up.nextDue, down.nextDue].compactMap { $0 }.min() }

  /// Moves what can be moved now.
  ///
  /// - Returns: false when the connection is over.
  mutating func advance(_ conduct: LinkConduct, at now: Duration) -> Bool {
    guard !conduct.isBlackHole else { return true }
    guard Self.read(client, into: &up, conduct, now), Self.read(server, into: &down, conduct, now),
      Self.write(&up, to: server, now), Self.write(&down, to: client, now)
    else { return false }
    if up.isOver, up.count == 0, !isUpClosed {
      isUpClosed = true
      shutdown(server, Int32(SHUT_WR))
    }
    if down.isOver, down.count == 0, !isDownClosed {
      isDownClosed = true
      shutdown(client, Int32(SHUT_WR))
    }
    return !(isUpClosed && isDownClosed)
  }

  mutating func suffer(_ blow: LinkBlow) {
    switch blow {
    case .cut: end(withReset: true)
    case .halfClose: down.isOver = true
    }
  }

  func end(withReset: Bool) {
    for socket in [client, server] {
      if withReset {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(
          socket, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
      }
      close(socket)
    }
  }

  private static func read(
    _ socket: Int32, into underway: inout BytesUnderway, _ conduct: LinkConduct, _ now: Duration
  ) -> Bool {
    while underway.hasRoom {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(socket, &buffer, buffer.count, 0)
      if count > 0 {
        underway.take(Array(buffer.prefix(count)), at: now, conduct)
      } else if count == 0 {
        underway.isOver = true
      } else {
        return [EAGAIN, EINTR, ENOTCONN].contains(errno)
      }
      guard count > 0 else { break }
    }
    return true
  }

  private static func write(_ underway: inout BytesUnderway, to socket: Int32, _ now: Duration)
    -> Bool
  {
    while let bytes = underway.ready(at: now) {
      let count = bytes.withUnsafeBytes {
        send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return [EAGAIN, EINTR, ENOTCONN].contains(errno) }
      underway.left(count)
    }
    return true
  }
}

/// Sockets on loopback.
enum Sockets {
  static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)

  static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  static func withAddress<Result>(
    _ address: inout sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }

  /// A listening socket on a free port.
  static func listen() throws -> (socket: Int32, port: UInt16) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | nonBlocking, 0)
    var address = loopback(0)
    guard listener >= 0, withAddress(&address, { bind(listener, $0, $1) }) == 0,
      Glibc.listen(listener, 128) == 0
    else { throw Unexpected("no socket to listen on: \(String(cString: strerror(errno)))") }
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(listener, $0, &length)
      }
    }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  /// Whether somebody takes connections there.
  static func accepts(_ port: UInt16) -> Bool {
    let probe = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(probe) }
    var address = loopback(port)
    return withAddress(&address) { connect(probe, $0, $1) } == 0
  }
}

import Glibc
import ServiceRuntime
import Synchronization

/// Stands between clients and servers and passes bytes on, until it is told to do worse.
///
/// Each link has a port of its own, so that one role can be struck alone. What is to be done is a
/// value under a lock; one thread owns all sockets and does it.
final class FaultProxy: Sendable {
  /// Which connections are struck.
  enum Reach: String, Hashable, Sendable, CaseIterable {
    case newest, all
  }

  private let orders: ProxyOrders
  private let ports: [String: UInt16]

  /// `links`: by name, the port of the server on loopback.
  init(links: [String: UInt16]) throws {
    var ports: [String: UInt16] = [:]
    var listeners: [ProxyLoop.Listener] = []
    for (name, serverPort) in links.sorted(by: { $0.key < $1.key }) {
      let (socket, port) = try Sockets.listen()
      ports[name] = port
      listeners.append(.init(link: name, socket: socket, serverPort: serverPort))
    }
    self.ports = ports
    let orders = ProxyOrders()
    self.orders = orders
    let sockets = listeners
    OwnedThread.start(named: "fault-proxy") {
      var loop = ProxyLoop(listeners: sockets)
      loop.run(by: orders)
    }
  }

  deinit { orders.change { $0.isOver = true } }

  /// Where clients of a link connect to.
  func port(of link: String) -> UInt16 { ports[link] ?? 0 }

  /// From now on, until something else is said. `link` nil: every one.
  func set(_ conduct: LinkConduct, on link: String?) {
    let links = link.map { [$0] } ?? Array(ports.keys)
    orders.change { orders in
      for link in links { orders.conducts[link] = conduct }
    }
  }

  /// Once, to the connections that are open. `link` nil: of every one.
  func strike(_ blow: LinkBlow, on link: String?, _ reach: Reach) {
    orders.change { $0.blows.append(.init(blow: blow, link: link, reach: reach)) }
  }
}

/// What the proxy is told.
final class ProxyOrders: Sendable {
  struct Blow {
    let blow: LinkBlow
    let link: String?
    let reach: FaultProxy.Reach
  }

  struct Content {
    var conducts: [String: LinkConduct] = [:]
    /// Not done yet.
    var blows: [Blow] = []
    var isOver = false
  }

  private let content = Mutex(Content())

  func change(_ body: (inout Content) -> Void) { content.withLock { body(&$0) } }

  /// What holds now; the blows are the taker's to do.
  func take() -> Content {
    content.withLock { content in
      defer { content.blows = [] }
      return content
    }
  }
}

/// The proxy's thread: everything that touches a socket.
struct ProxyLoop {
  struct Listener {
    let link: String
    let socket: Int32
    let serverPort: UInt16
  }

  /// How soon an order is obeyed.
  private static let turn: Duration = .milliseconds(10)

  let listeners: [Listener]
  private var connections: [ProxiedConnection] = []

  init(listeners: [Listener]) { self.listeners = listeners }

  mutating func run(by orders: ProxyOrders) {
    let begun = ContinuousClock.now
    while true {
      let told = orders.take()
      guard !told.isOver else { break }
      for blow in told.blows { strike(blow) }
      let now = ContinuousClock.now - begun
      wait(told, now)
      accept()
      advance(told, ContinuousClock.now - begun)
    }
    for listener in listeners { close(listener.socket) }
    for connection in connections { connection.end(withReset: true) }
  }

  private func wait(_ told: ProxyOrders.Content, _ now: Duration) {
    var watched = listeners.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
    var limit = Self.turn
    for connection in connections {
      let conduct = told.conducts[connection.link] ?? .clear
      watched += connection.interests(conduct, at: now)
      if let due = connection.nextDue, !conduct.isBlackHole { limit = min(limit, due - now) }
    }
    let milliseconds = Int32((limit / Duration.milliseconds(1)).rounded(.up))
    _ = poll(&watched, nfds_t(watched.count), max(0, milliseconds))
  }

  private mutating func accept() {
    for listener in listeners {
      while true {
        let client = Glibc.accept(listener.socket, nil, nil)
        guard client >= 0 else { break }
        _ = fcntl(client, F_SETFL, O_NONBLOCK)
        _ = fcntl(client, F_SETFD, FD_CLOEXEC)
        let connection = ProxiedConnection(
          link: listener.link, client: client, serverPort: listener.serverPort)
        if let connection { connections.append(connection) }
      }
    }
  }

  private mutating func advance(_ told: ProxyOrders.Content, _ now: Duration) {
    for place in connections.indices.reversed() {
      let conduct = told.conducts[connections[place].link] ?? .clear
      if connections[place].advance(conduct, at: now) { continue }
      connections[place].end(withReset: false)
      connections.remove(at: place)
    }
  }

  private mutating func strike(_ order: ProxyOrders.Blow) {
    let meant = connections.indices.filter { place in
      order.link.map { connections[place].link == $0 } ?? true
    }
    for place in (order.reach == .all ? meant[...] : meant.suffix(1)).reversed() {
      connections[place].suffer(order.blow)
      if order.blow == .cut { connections.remove(at: place) }
    }
  }
}

import CLinux
import CNghttp2
import Foundation
import Synchronization

/// The server's thread: accepts, reads, answers, and sends what was postponed.
final class ServerLoop {
  private static let eventsMax = 128

  private let tls: ServerTLS
  private let listener: Listener
  private let mailbox: ServerMailbox
  private let elapsed: @Sendable () -> Duration
  private let handler: @Sendable (HTTP2Request) -> HTTP2Reply
  private var settings: HTTP2Server.Settings
  private let writer = HeaderWriter()
  private let poller: Int32
  private var connections: [Int32: ServerConnection] = [:]
  private var watched: [Int32: UInt32] = [:]
  private var postponed = DueList<(descriptor: Int32, number: Int, stream: Int32, HTTP2Response)>()
  private var nextNumber = 1
  private var isStopping = false

  init(
    tls: ServerTLS, listener: Listener, mailbox: ServerMailbox, settings: HTTP2Server.Settings,
    elapsed: @escaping @Sendable () -> Duration,
    handler: @escaping @Sendable (HTTP2Request) -> HTTP2Reply
  ) {
    self.tls = tls
    self.listener = listener
    self.mailbox = mailbox
    self.settings = settings
    self.elapsed = elapsed
    self.handler = handler
    poller = epoll_create1(Int32(EPOLL_CLOEXEC))
    precondition(poller >= 0, "no descriptor left for epoll")
  }

  deinit { Foundation.close(poller) }

  func run() {
    watch(listener.descriptor, EPOLLIN.rawValue)
    watch(mailbox.descriptor, EPOLLIN.rawValue)
    var events = [epoll_event](repeating: epoll_event(), count: Self.eventsMax)
    while !isStopping {
      let count = epoll_wait(poller, &events, Int32(Self.eventsMax), timeout)
      for event in events.prefix(Int(max(0, count))) { handle(event.data.fd) }
      sendPostponed()
      dropSlowOnes()
    }
    connections.removeAll()
    mailbox.openConnections.store(0, ordering: .relaxed)
  }

  /// Milliseconds until the next postponed answer; a second at most.
  private var timeout: Int32 {
    guard let due = postponed.earliest else { return 1000 }
    let wait = (due - elapsed()) / .milliseconds(1)
    return Int32(min(max(wait.rounded(.up), 0), 1000))
  }

  private func handle(_ descriptor: Int32) {
    if descriptor == listener.descriptor { return accept() }
    if descriptor == mailbox.descriptor { return carryOutOrders() }
    guard let connection = connections[descriptor] else { return }
    let now = elapsed()
    connection.advance(now: now)
    for answer in connection.takePostponed() {
      postponed.insert(
        (descriptor, connection.number, answer.stream, answer.response), due: now + answer.after)
    }
    settle(connection)
  }

  private func accept() {
    while let client = listener.accept() {
      guard connections.count < settings.connectionsMax else {
        Foundation.close(client)
        continue
      }
      // A client that cannot be set up is only closed: it will see that.
      guard let socket = try? SecureSocket(context: tls.context, descriptor: client),
        let connection = try? ServerConnection(
          number: nextNumber, socket: socket, settings: settings, writer: writer, now: elapsed(),
          handler: handler)
      else { continue }
      nextNumber += 1
      connections[client] = connection
      mailbox.connectionsTaken.add(1, ordering: .relaxed)
      mailbox.openConnections.store(connections.count, ordering: .relaxed)
      settle(connection)
    }
  }

  /// Watches for what the connection waits for now, or forgets it.
  private func settle(_ connection: ServerConnection) {
    let descriptor = connection.descriptor
    switch connection.life {
    case .ended:
      epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, nil)
      watched[descriptor] = nil
      connections[descriptor] = nil
      mailbox.openConnections.store(connections.count, ordering: .relaxed)
    case .deaf:
      epoll_ctl(poller, EPOLL_CTL_DEL, descriptor, nil)
      watched[descriptor] = nil
    case .handshaking, .open, .saidGoodbye:
      let writes = connection.pump.isBlocked || connection.pump.socket.wantsWrite
      watch(descriptor, EPOLLIN.rawValue | (writes ? EPOLLOUT.rawValue : 0))
    }
  }

  private func watch(_ descriptor: Int32, _ events: UInt32) {
    guard watched[descriptor] != events else { return }
    var event = epoll_event()
    event.events = events
    event.data.fd = descriptor
    let change = watched[descriptor] == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD
    epoll_ctl(poller, change, descriptor, &event)
    watched[descriptor] = events
  }

  private func sendPostponed() {
    guard postponed.earliest != nil else { return }
    let now = elapsed()
    var touched: [Int32: ServerConnection] = [:]
    while let (descriptor, number, stream, response) = postponed.take(dueAt: now) {
      guard let connection = connections[descriptor], connection.number == number else { continue }
      connection.respond(response, on: stream)
      touched[descriptor] = connection
    }
    for connection in touched.values {
      connection.write(now: now)
      settle(connection)
    }
  }

  private func dropSlowOnes() {
    for connection in connections.values {
      guard let since = connection.waitingSince,
        elapsed() - since > ServerConnection.patience
      else { continue }
      connection.end()
      settle(connection)
    }
  }

  private func carryOutOrders() {
    for order in mailbox.take() {
      switch order {
      case .maxConcurrentStreams(let count, let number):
        if number == nil { settings.maxConcurrentStreams = count }
        each(number) { $0.submitSettings(maxConcurrentStreams: count) }
      case .goAway(let debug, let number):
        each(number) { $0.goAwayAfterOpenStreams(debug: debug) }
      case .drop(let number): each(number) { $0.end() }
      case .stop: isStopping = true
      }
    }
  }

  private func each(_ number: Int?, _ act: (ServerConnection) -> Void) {
    let now = elapsed()
    for connection in Array(connections.values)
    where number == nil || connection.number == number {
      act(connection)
      connection.write(now: now)
      settle(connection)
    }
  }
}

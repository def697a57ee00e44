import CLinux
import CRabbitMQ
import Foundation
import Glibc
import Pipeline
import Vocabulary

/// One connection with one channel. Owned by one thread; made connected, and good for nothing
/// after the first ``BrokerLost``.
final class AMQPConnection {
  static let channel: amqp_channel_t = 1

  let descriptor: Int32
  let limits: BrokerLimits
  let time: any TimeSource
  /// For values on their way to the library; whoever fills it recycles it.
  let pool = AMQPPool()
  private let watchdogKey: Int
  private var state: amqp_connection_state_t?
  private var content = ContentAssembly()

  /// Of a message's body more is passed over.
  var body_bytes_max: Int {
    get { content.body_bytes_max }
    set { content.body_bytes_max = newValue }
  }

  /// Connects and logs in, once; `name` is how the connection is called in the broker's lists.
  init(_ address: BrokerAddress, name: String, limits: BrokerLimits, time: any TimeSource)
    throws(BrokerLost)
  {
    self.limits = limits
    self.time = time
    guard let state = amqp_new_connection() else { throw BrokerLost("no memory to connect") }
    do throws(BrokerLost) {
      try Self.openSocket(state, address, limits)
    } catch {
      amqp_destroy_connection(state)
      throw error
    }
    descriptor = amqp_get_sockfd(state)
    watchdogKey = SocketWatchdog.shared.watch(descriptor)
    self.state = state
    setUserTimeout()
    // Each step of the login has its own limit; this one is above all of them.
    SocketWatchdog.shared.arm(watchdogKey, for: limits.calling * 2)
    defer { SocketWatchdog.shared.disarm(watchdogKey) }
    try logIn(state, address, name)
    try openChannel()
  }

  deinit { abandon() }

  /// Ends the connection without a word.
  func abandon() {
    guard let state else { return }
    self.state = nil
    SocketWatchdog.shared.forget(watchdogKey)
    amqp_destroy_connection(state)
  }

  /// Says good-bye, within the limit, and ends the connection.
  func close() {
    guard let state else { return }
    var limit = timeval(limits.closing)
    amqp_set_rpc_timeout(state, &limit)
    guarded(for: limits.closing) { _ = amqp_connection_close(state, AMQP_REPLY_SUCCESS) }
    abandon()
  }

  /// Runs calls into the library under the watchdog.
  func guarded<Result, Failure: Error>(
    for limit: Duration, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    SocketWatchdog.shared.arm(watchdogKey, for: limit)
    defer { SocketWatchdog.shared.disarm(watchdogKey) }
    return try body()
  }

  private func lost(_ reason: String) -> BrokerLost {
    abandon()
    return BrokerLost(reason)
  }

  private func live() throws(BrokerLost) -> amqp_connection_state_t {
    guard let state else { throw BrokerLost("not connected") }
    return state
  }
}

// MARK: Calls

/// A call that the broker answered with the end of the channel; the channel is open again.
struct CallRefused: Error {
  let code: Int
  let text: String
  var description: String { "\(code) \(text)" }
}

enum CallFailure: Error {
  case refused(CallRefused)
  case lost(BrokerLost)

  /// For callers to whom a refusal is as bad as a lost connection.
  func asLost(_ attempt: String) -> BrokerLost {
    switch self {
    case .refused(let refusal): BrokerLost("\(attempt): \(refusal.description)")
    case .lost(let lost): lost
    }
  }
}

extension AMQPConnection {
  /// Calls and waits for the answer, at most `limits.calling`.
  func call(_ body: (amqp_connection_state_t) -> Void) throws(CallFailure) {
    let state: amqp_connection_state_t
    do throws(BrokerLost) { state = try live() } catch { throw .lost(error) }
    guarded(for: limits.calling * 2) { body(state) }
    pool.recycle()
    let reply = amqp_get_rpc_reply(state)
    switch reply.reply_type {
    case AMQP_RESPONSE_NORMAL: return
    case AMQP_RESPONSE_SERVER_EXCEPTION where reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD:
      let refusal = Self.channelClose(reply.reply)
      var ok = amqp_channel_close_ok_t()
      amqp_send_method(state, Self.channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok)
      do throws(BrokerLost) { try openChannel() } catch { throw .lost(error) }
      throw .refused(refusal)
    default: throw .lost(lost(Self.reason(reply)))
    }
  }

  /// Sends without waiting for an answer; `body` gives the library's status.
  func send(_ body: (amqp_connection_state_t) -> Int32) throws(BrokerLost) {
    let status = body(try live())
    if status < 0 { throw lost(Self.text(status)) }
  }

  /// Runs `body`, which sends many messages, and has the kernel put them into few packets: one for
  /// each message costs both sides more than the message. The last goes at the end.
  func gathering<Result>(_ body: () throws(BrokerLost) -> Result) throws(BrokerLost) -> Result {
    gather(1)
    defer { gather(0) }
    return try body()
  }

  private func gather(_ flag: Int32) {
    var flag = flag
    // A closed socket refuses, and gathers nothing either.
    _ = setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_CORK, &flag, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Waits for the next thing that the broker says, at most `limit`; zero only looks. Sends and
  /// checks heartbeats.
  ///
  /// - Returns: nil when nothing came.
  func next(within limit: Duration) throws(BrokerLost) -> BrokerEvent? {
    let state = try live()
    let deadline = limit > .zero ? time.elapsed() + limit : nil
    while true {
      var wait = timeval(deadline.map { max($0 - time.elapsed(), .zero) } ?? .zero)
      var frame = amqp_frame_t()
      let status = amqp_simple_wait_frame_noblock(state, &frame, &wait)
      switch amqp_status_enum(status) {
      case AMQP_STATUS_OK: break
      case AMQP_STATUS_TIMEOUT: return nil
      case AMQP_STATUS_HEARTBEAT_TIMEOUT:
        throw lost("the broker was silent for two heartbeats")
      default: throw lost(Self.text(status))
      }
      let event = try event(of: frame)
      amqp_maybe_release_buffers(state)
      if let event { return event }
    }
  }

  private func event(of frame: amqp_frame_t) throws(BrokerLost) -> BrokerEvent? {
    switch Int32(frame.frame_type) {
    case AMQP_FRAME_HEADER, AMQP_FRAME_BODY: return content.take(frame)
    case AMQP_FRAME_METHOD: break
    default: return nil
    }
    let method = frame.payload.method
    switch method.id {
    case AMQP_CONNECTION_CLOSE_METHOD:
      let close = method.decoded.load(as: amqp_connection_close_t.self)
      throw lost(
        "the broker closed the connection: \(close.reply_code) \(String(close.reply_text))")
    case AMQP_CHANNEL_CLOSE_METHOD:
      throw lost("the broker closed the channel: \(Self.channelClose(method).description)")
    default:
      if let event = BrokerEvent(method) { return event }
      content.begin(method)
      return nil
    }
  }

  private static func channelClose(_ method: amqp_method_t) -> CallRefused {
    let close = method.decoded.load(as: amqp_channel_close_t.self)
    return CallRefused(code: Int(close.reply_code), text: String(close.reply_text))
  }

  private static func reason(_ reply: amqp_rpc_reply_t) -> String {
    switch reply.reply_type {
    case AMQP_RESPONSE_SERVER_EXCEPTION where reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD:
      let close = reply.reply.decoded.load(as: amqp_connection_close_t.self)
      return "the broker closed the connection: \(close.reply_code) \(String(close.reply_text))"
    case AMQP_RESPONSE_SERVER_EXCEPTION where reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD:
      return "the broker closed the channel: \(channelClose(reply.reply).description)"
    case AMQP_RESPONSE_LIBRARY_EXCEPTION: return text(reply.library_error)
    default: return "the broker gave no answer"
    }
  }

  fileprivate static func text(_ status: Int32) -> String {
    String(cString: amqp_error_string2(status))
  }
}

// MARK: Connecting

extension AMQPConnection {
  private static func openSocket(
    _ state: amqp_connection_state_t, _ address: BrokerAddress, _ limits: BrokerLimits
  ) throws(BrokerLost) {
    let place = "\(address.host):\(address.port)"
    let socket = address.isTLS ? amqp_ssl_socket_new(state) : amqp_tcp_socket_new(state)
    guard let socket else { throw BrokerLost("no memory to connect to \(place)") }
    if address.isTLS {
      amqp_ssl_socket_set_verify_peer(socket, 1)
      amqp_ssl_socket_set_verify_hostname(socket, 1)
      guard amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST) == 0,
        amqp_ssl_socket_set_cacert(socket, address.authoritiesFile) == 0
      else {
        throw BrokerLost("no certificate authorities can be read from \(address.authoritiesFile)")
      }
    }
    var limit = timeval(limits.connecting)
    let status = amqp_socket_open_noblock(socket, address.host, Int32(address.port), &limit)
    guard status == 0 else { throw BrokerLost("no connection to \(place): \(text(status))") }
  }

  /// Bounds how long sent bytes may stay unacknowledged; without it a send to a frozen broker
  /// never ends (research/feasibility.md 2).
  private func setUserTimeout() {
    var limit_ms = UInt32(clamping: limits.unacknowledgedBytes.milliseconds)
    let size = socklen_t(MemoryLayout<UInt32>.size)
    let code = setsockopt(
      descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &limit_ms, size)
    precondition(code == 0, "TCP_USER_TIMEOUT is refused: \(String(cString: strerror(errno)))")
  }

  /// The library's own login does not ask for `connection.blocked` nor `consumer_cancel_notify`.
  private func logIn(_ state: amqp_connection_state_t, _ address: BrokerAddress, _ name: String)
    throws(BrokerLost)
  {
    var limit = timeval(limits.calling)
    amqp_set_handshake_timeout(state, &limit)
    amqp_set_rpc_timeout(state, &limit)
    var properties = pool.table(
      "capabilities",
      of: [
        "connection.blocked": .flag(true), "basic.nack": .flag(true),
        "consumer_cancel_notify": .flag(true), "publisher_confirms": .flag(true),
        "authentication_failure_close": .flag(true),
      ], and: ["connection_name": .text(name), "product": "lockstep"])
    let heartbeat_s = Int32(clamping: limits.heartbeat.components.seconds)
    let reply = lockstep_amqp_login_plain(
      state, address.virtualHost, limits.frame_bytes, heartbeat_s, &properties, address.user,
      address.password)
    pool.recycle()
    guard reply.reply_type == AMQP_RESPONSE_NORMAL else {
      throw lost("login at \(address) failed: \(Self.reason(reply))")
    }
  }

  private func openChannel() throws(BrokerLost) {
    let state = try live()
    guard amqp_channel_open(state, Self.channel) != nil else {
      throw lost("no channel: \(Self.reason(amqp_get_rpc_reply(state)))")
    }
  }
}

extension timeval {
  init(_ duration: Duration) {
    let parts = duration.components
    self.init(
      tv_sec: Int(parts.seconds),
      tv_usec: Int(parts.attoseconds / 1_000_000_000_000))
  }
}

import CLinux
import CNghttp2
import COpenSSL
import Foundation

/// Hears how requests end. Called from within ``HTTP2Client/advance(now:)`` and
/// ``HTTP2Client/close()``; may submit, must not advance or close.
package protocol HTTP2ClientOwner: AnyObject {
  /// A whole answer.
  func answered(tag: Int, status: Int, headers: HeaderBlock, body: Data)
  /// The server certainly did not process it.
  func neverProcessed(tag: Int, because reason: String)
  /// It was sent, and the answer will not come.
  func unanswered(tag: Int, because reason: String)
}

/// One HTTP/2 connection over TLS that never blocks. Owned by one thread, which polls
/// ``interest`` and calls ``advance(now:)``.
package final class HTTP2Client {
  package struct Settings: Hashable, Sendable {
    /// DNS name or IP address.
    package var host: String
    package var port: UInt16
    package var lookupTimeout = Duration.seconds(5)
    /// For each address.
    package var connectTimeout = Duration.seconds(5)
    package var tlsTimeout = Duration.seconds(5)
    package var pingTimeout = Duration.seconds(5)
    /// How long the kernel lets sent bytes stand without acknowledgement (`TCP_USER_TIMEOUT`).
    package var userTimeout = Duration.seconds(10)

    package init(host: String, port: UInt16) {
      self.host = host
      self.port = port
    }
  }

  enum Phase {
    case lookingUp(AddressLookup)
    /// The socket; not closed by anybody else while here.
    case connecting(Int32)
    case shakingHands(SecureSocket)
    case open(FramePump)
    case ended(because: String)
  }

  let settings: Settings
  /// The requests' `:authority`.
  package let authority: String
  let tls: ClientTLS
  private unowned let owner: any HTTP2ClientOwner
  var phase: Phase
  /// When the present phase began, by the owner's monotonic clock.
  var phaseStartedAt: Duration
  var addressesLeft: [SocketAddress] = []
  private var streams: [ClientStream] = []
  private var free: [ClientStream] = []
  /// SETTINGS came once: TLS stood and the server speaks HTTP/2.
  package private(set) var hasOpened = false
  private var pingSentAt: Duration?

  /// What the server's GOAWAY said; nil before one came.
  package private(set) var goAway: String?
  /// When the last byte came.
  package private(set) var lastReceivedAt: Duration
  /// Streams that the server may still count as open.
  package private(set) var openStreams = 0

  /// Starts to look up and connect. `owner` must outlive the client.
  package init(
    settings: Settings, tls: ClientTLS, resolver: AddressResolver = .system,
    owner: any HTTP2ClientOwner, now: Duration
  ) {
    self.owner = owner
    self.settings = settings
    let host = settings.host.contains(":") ? "[\(settings.host)]" : settings.host
    authority = settings.port == 443 ? host : "\(host):\(settings.port)"
    self.tls = tls
    phase = .lookingUp(AddressLookup(host: settings.host, port: settings.port, resolver: resolver))
    phaseStartedAt = now
    lastReceivedAt = now
  }

  deinit { if case .connecting(let descriptor) = phase { Foundation.close(descriptor) } }

  /// Why the connection is no more, or never came up; nil while there is hope.
  package var ended: String? { if case .ended(let reason) = phase { reason } else { nil } }

  package var isOpen: Bool { if case .open = phase { true } else { false } }

  /// New streams may be opened: TLS stands, SETTINGS came, no GOAWAY did.
  package var takesRequests: Bool { isOpen && hasOpened && goAway == nil }

  /// The server's SETTINGS_MAX_CONCURRENT_STREAMS as it stands now.
  package var maxConcurrentStreams: Int {
    guard case .open(let pump) = phase else { return 0 }
    return Int(
      nghttp2_session_get_remote_settings(
        pump.session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
  }

  /// Hands a request over; it leaves with the next ``advance(now:)``.
  ///
  /// - Returns: the stream; nil when the connection takes no requests.
  package func submit(_ headers: HeaderWriter, body: Data, tag: Int) -> ClientStream? {
    guard takesRequests, case .open(let pump) = phase else { return nil }
    let stream = free.popLast() ?? makeStream()
    stream.begin(tag: tag, body: body)
    let pointer = Unmanaged.passUnretained(stream).toOpaque()
    var provider = nghttp2_data_provider()
    provider.source.ptr = pointer
    provider.read_callback = readBody
    let id = withUnsafePointer(to: provider) {
      nghttp2_submit_request(
        pump.session, nil, headers.pointer, headers.count, body.isEmpty ? nil : $0, pointer)
    }
    guard id > 0 else {
      stream.end()
      free.append(stream)
      return nil
    }
    stream.id = id
    openStreams += 1
    return stream
  }

  private func makeStream() -> ClientStream {
    let stream = ClientStream()
    streams.append(stream)
    return stream
  }

  /// Gives a request up: the owner hears nothing more of it.
  ///
  /// - Returns: whether it had been sent, so that the server may have acted on it.
  package func abandon(_ stream: ClientStream) -> Bool {
    stream.isSettled = true
    if stream.isLive, case .open(let pump) = phase {
      nghttp2_submit_rst_stream(
        pump.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, NGHTTP2_CANCEL.rawValue)
    }
    return stream.isSent
  }

  /// Asks for a sign of life; without one within ``Settings/pingTimeout`` the connection ends.
  package func ping(now: Duration) {
    guard case .open(let pump) = phase, pingSentAt == nil else { return }
    pingSentAt = now
    nghttp2_submit_ping(pump.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
  }

  /// Ends the connection; requests in flight are reported to the owner first.
  package func close() {
    if case .open(let pump) = phase {
      nghttp2_session_terminate_session(pump.session, NGHTTP2_NO_ERROR.rawValue)
      _ = pump.flush()
      pump.socket.sayGoodbye()
    }
    end("closed by us")
  }

  // MARK: What nghttp2 tells

  func settingsArrived() { hasOpened = true }
  func pingAnswered() { pingSentAt = nil }

  func goAwayArrived(code: UInt32, debug: String) {
    let name = String(cString: nghttp2_http2_strerror(code))
    goAway = debug.isEmpty ? "GOAWAY \(name)" : "GOAWAY \(name) \(debug)"
  }

  func streamClosed(_ stream: ClientStream, code: UInt32) {
    openStreams -= 1
    if !stream.isSettled {
      if stream.isComplete, let status = stream.status {
        owner.answered(
          tag: stream.tag, status: status, headers: stream.headers, body: stream.answer)
      } else if code == NGHTTP2_REFUSED_STREAM.rawValue {
        owner.neverProcessed(tag: stream.tag, because: goAway ?? "REFUSED_STREAM")
      } else {
        owner.unanswered(
          tag: stream.tag, because: "stream reset: \(String(cString: nghttp2_http2_strerror(code)))"
        )
      }
    }
    stream.end()
    free.append(stream)
  }

  // MARK: The open connection

  func exchange(_ pump: FramePump, now: Duration) {
    let (ended, received) = pump.receive()
    if received { lastReceivedAt = now }
    if let reason = ended ?? pump.flush() { return end(goAway ?? reason) }
    if pump.isFinished { return end(goAway ?? "closed") }
    if let pingSentAt, now - pingSentAt > settings.pingTimeout { end("no answer to PING") }
  }

  /// Writes what was submitted, as far as the socket takes it.
  package func flush() {
    guard case .open(let pump) = phase, let reason = pump.flush() else { return }
    end(goAway ?? reason)
  }

  func end(_ reason: String) {
    if case .connecting(let descriptor) = phase { Foundation.close(descriptor) }
    phase = .ended(because: reason)
    for stream in streams where stream.isLive {
      let wasSettled = stream.isSettled
      stream.end()
      guard !wasSettled else { continue }
      if stream.isSent {
        owner.unanswered(tag: stream.tag, because: reason)
      } else {
        owner.neverProcessed(tag: stream.tag, because: reason)
      }
    }
    openStreams = 0
    streams.removeAll()
    free.removeAll()
  }
}

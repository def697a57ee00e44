import CNghttp2
import COpenSSL
import Foundation

/// One client's connection. Lives on the server's thread.
final class ServerConnection {
  /// A client that takes longer to shake hands, or to close after our goodbye, is dropped.
  static let patience = Duration.seconds(5)
  private static let connectionWindowBytes: Int32 = 16 * 1024 * 1024

  enum Life {
    case handshaking(since: Duration)
    case open
    /// Nothing is read or written any more.
    case deaf
    /// All is sent; closing before the client has read it could throw its last answers away.
    case saidGoodbye(since: Duration)
    case ended
  }

  let number: Int
  let pump: FramePump
  private(set) var life: Life
  /// Answers that wait for their moment: what to send, on which stream, after how long.
  private(set) var postponed: [(after: Duration, stream: Int32, response: HTTP2Response)] = []
  private let settings: HTTP2Server.Settings
  /// No request was answered with 200 yet.
  private var isWarmingUp: Bool
  private let handler: @Sendable (HTTP2Request) -> HTTP2Reply
  private let writer: HeaderWriter
  /// Later streams than this were declared unprocessed by a GOAWAY, and so must stay.
  private var lastStream = Int32.max
  private var streams: [Int32: ServerStream] = [:]

  init(
    number: Int, socket: SecureSocket, settings: HTTP2Server.Settings, writer: HeaderWriter,
    now: Duration, handler: @escaping @Sendable (HTTP2Request) -> HTTP2Reply
  ) throws(TLSError) {
    self.number = number
    self.settings = settings
    let streamsAtStart = settings.streamsAtStart()
    isWarmingUp = streamsAtStart != nil
    self.handler = handler
    self.writer = writer
    life = .handshaking(since: now)
    var session: OpaquePointer?
    SSL_set_accept_state(socket.ssl)
    // The user pointer must be self, which is not whole before the session is there.
    let code = nghttp2_session_server_new2(&session, serverCallbacks, nil, serverOptions)
    guard code == 0, let session else { throw TLSError("no HTTP/2 session") }
    pump = FramePump(session: session, socket: socket)
    nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
    submitSettings(
      maxConcurrentStreams: streamsAtStart ?? settings.maxConcurrentStreams)
    nghttp2_session_set_local_window_size(session, 0, 0, Self.connectionWindowBytes)
  }

  var descriptor: Int32 { pump.socket.descriptor }

  var isEnded: Bool { if case .ended = life { true } else { false } }

  func submitSettings(maxConcurrentStreams: UInt32) {
    var entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue),
      value: maxConcurrentStreams)
    nghttp2_submit_settings(pump.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
  }

  /// Since when the client is slow to do what it must; nil while it owes nothing.
  var waitingSince: Duration? {
    switch life {
    case .handshaking(let since), .saidGoodbye(let since): since
    case .open, .deaf, .ended: nil
    }
  }

  func end() { life = .ended }

  /// Reads and writes what can be read and written now.
  func advance(now: Duration) {
    if case .handshaking = life { shakeHands() }
    if case .saidGoodbye = life, pump.discard() { life = .ended }
    guard case .open = life else { return }
    if pump.receive().ended != nil { life = .ended }
    write(now: now)
  }

  func write(now: Duration) {
    guard case .open = life else { return }
    if pump.flush() != nil {
      life = .ended
    } else if pump.isFinished {
      pump.socket.sayGoodbye()
      life = .saidGoodbye(since: now)
    }
  }

  private func shakeHands() {
    switch pump.socket.handshake() {
    case .done: life = .open
    case .wouldBlock: break
    case .ended: life = .ended
    }
  }

  // MARK: What nghttp2 tells

  func stream(_ id: Int32) -> ServerStream? { streams[id] }
  func beginStream(_ id: Int32) { streams[id] = ServerStream(id: id) }
  func endStream(_ id: Int32) { streams[id] = nil }

  func requestEnded(_ id: Int32) {
    guard id <= lastStream, let stream = streams[id], case .open = life else { return }
    let request = HTTP2Request(block: stream.headers, body: stream.body, connection: number)
    carryOut(handler(request), on: stream)
  }

  private func carryOut(_ reply: HTTP2Reply, on stream: ServerStream) {
    switch reply {
    case .respond(let response): respond(response, on: stream.id)
    case .respondAfter(let delay, let response):
      postponed.append((delay, stream.id, response))
    case .resetStream(let code):
      nghttp2_submit_rst_stream(
        pump.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code)
    case .never: break
    case .goDeaf: life = .deaf
    case .dropConnection: life = .ended
    case .withStreams(let count, let reply):
      isWarmingUp = false
      submitSettings(maxConcurrentStreams: count ?? settings.maxConcurrentStreams)
      carryOut(reply, on: stream)
    case .goAway(let debug, let response):
      if let response { respond(response, on: stream.id) }
      goAway(debug: debug, last: response == nil ? max(0, stream.id - 2) : stream.id)
    }
  }

  /// GOAWAY that lets all streams seen so far be answered.
  func goAwayAfterOpenStreams(debug: String) {
    goAway(debug: debug, last: nghttp2_session_get_last_proc_stream_id(pump.session))
  }

  private func goAway(debug: String, last: Int32) {
    lastStream = min(lastStream, last)
    var debug = debug
    debug.withUTF8 {
      _ = nghttp2_submit_goaway(
        pump.session, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, NGHTTP2_NO_ERROR.rawValue,
        $0.baseAddress, $0.count)
    }
  }

  func takePostponed() -> [(after: Duration, stream: Int32, response: HTTP2Response)] {
    defer { postponed.removeAll(keepingCapacity: true) }
    return postponed
  }

  /// Answers, unless the stream is gone by now.
  func respond(_ response: HTTP2Response, on id: Int32) {
    guard let stream = streams[id] else { return }
    if isWarmingUp, response.status == 200 {
      isWarmingUp = false
      submitSettings(maxConcurrentStreams: settings.maxConcurrentStreams)
    }
    _ = stream.submit(response, to: pump.session, writer: writer)
  }
}

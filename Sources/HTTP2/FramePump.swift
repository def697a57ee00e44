import CNghttp2
import Glibc

/// Moves bytes between one HTTP/2 session and its TLS socket. Frames are collected to whole TLS
/// records before each write: one write per frame costs four times the CPU.
final class FramePump {
  /// One TLS record.
  static let recordBytes = 16_384
  private static let inputBytes = 65_536

  let session: OpaquePointer
  let socket: SecureSocket
  private let input: UnsafeMutableRawBufferPointer
  private let output: UnsafeMutableRawBufferPointer
  private var outputCount = 0

  /// `session` is an `nghttp2_session`, freed with the pump.
  init(session: OpaquePointer, socket: SecureSocket) {
    self.session = session
    self.socket = socket
    input = .allocate(byteCount: Self.inputBytes, alignment: 16)
    // Room for one record and one whole frame that did not fit into it any more.
    output = .allocate(byteCount: Self.recordBytes * 2 + 64, alignment: 16)
  }

  deinit {
    nghttp2_session_del(session)
    input.deallocate()
    output.deallocate()
  }

  /// Bytes wait because the socket takes no more.
  var isBlocked: Bool { outputCount > 0 }

  /// There is something to write that nobody has tried to write yet.
  var wantsWrite: Bool { nghttp2_session_want_write(session) != 0 }

  /// Reads all there is.
  ///
  /// - Returns: why the connection ended, nil while it lives; and whether anything came.
  func receive() -> (ended: String?, received: Bool) {
    var received = false
    while true {
      switch socket.read(into: input) {
      case .done(let count):
        received = true
        let taken = nghttp2_session_mem_recv(
          session, input.baseAddress?.assumingMemoryBound(to: UInt8.self), count)
        guard taken == count else { return (Self.text(Int32(truncatingIfNeeded: taken)), true) }
      case .wouldBlock: return (nil, received)
      case .ended(let reason): return (reason, received)
      }
    }
  }

  /// Reads all there is and drops it.
  ///
  /// - Returns: whether the connection ended.
  func discard() -> Bool {
    while true {
      switch socket.read(into: input) {
      case .done: continue
      case .wouldBlock: return false
      case .ended: return true
      }
    }
  }

  /// Writes all there is, as far as the socket takes it.
  ///
  /// - Returns: why the connection ended; nil while it lives.
  func flush() -> String? {
    guard let base = output.baseAddress else { return nil }
    while true {
      while outputCount < Self.recordBytes {
        var chunk: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(session, &chunk)
        guard count >= 0 else { return Self.text(Int32(truncatingIfNeeded: count)) }
        guard count > 0, let chunk else { break }
        memcpy(base + outputCount, chunk, count)
        outputCount += count
      }
      guard outputCount > 0 else { return nil }
      let slice = UnsafeRawBufferPointer(start: base, count: min(outputCount, Self.recordBytes))
      switch socket.write(slice) {
      case .done(let count):
        outputCount -= count
        if outputCount > 0 { memmove(base, base + count, outputCount) }
      case .wouldBlock: return nil
      case .ended(let reason): return reason
      }
    }
  }

  /// The session has nothing to do any more: GOAWAY was sent or received and the streams are done.
  var isFinished: Bool {
    !isBlocked && nghttp2_session_want_read(session) == 0
      && nghttp2_session_want_write(session) == 0
  }

  static func text(_ code: Int32) -> String { "HTTP/2: " + String(cString: nghttp2_strerror(code)) }
}

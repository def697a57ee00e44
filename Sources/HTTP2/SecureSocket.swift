import COpenSSL
import Glibc

/// One TLS connection over a non-blocking TCP socket. Owned by one thread; closes the socket when
/// it goes.
final class SecureSocket {
  enum Progress {
    case done(Int)
    case wouldBlock
    case ended(because: String)
  }

  let descriptor: Int32
  let ssl: OpaquePointer
  /// The last call stopped because the socket takes no more.
  private(set) var wantsWrite = false

  /// `context` is an `SSL_CTX`; the socket keeps its own hold on it. `descriptor` is closed in
  /// every case.
  init(context: OpaquePointer, descriptor: Int32) throws(TLSError) {
    guard let ssl = SSL_new(context) else {
      Glibc.close(descriptor)
      throw TLSError("no TLS connection")
    }
    self.ssl = ssl
    self.descriptor = descriptor
    SSL_set_fd(ssl, descriptor)
  }

  deinit {
    SSL_free(ssl)
    Glibc.close(descriptor)
  }

  func handshake() -> Progress { progress { SSL_do_handshake(ssl) } }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Progress {
    progress { SSL_read(ssl, buffer.baseAddress, Int32(buffer.count)) }
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Progress {
    progress { SSL_write(ssl, bytes.baseAddress, Int32(bytes.count)) }
  }

  /// Says goodbye without waiting for the other side to say it too.
  func sayGoodbye() {
    SSL_shutdown(ssl)
    shutdown(descriptor, Int32(SHUT_WR))
  }

  private func progress(_ call: () -> Int32) -> Progress {
    // SSL_get_error looks at the thread's queue: what another connection left there would be taken
    // for this one's.
    ERR_clear_error()
    errno = 0
    let count = call()
    wantsWrite = false
    guard count <= 0 else { return .done(Int(count)) }
    switch SSL_get_error(ssl, count) {
    case SSL_ERROR_WANT_READ: return .wouldBlock
    case SSL_ERROR_WANT_WRITE:
      wantsWrite = true
      return .wouldBlock
    case SSL_ERROR_ZERO_RETURN: return .ended(because: "closed by the other side")
    case SSL_ERROR_SYSCALL where errno != 0:
      return .ended(because: String(cString: strerror(errno)))
    default:
      let detail = TLSError.takeQueue()
      return .ended(because: detail.isEmpty ? "closed by the other side" : "TLS: \(detail)")
    }
  }
}

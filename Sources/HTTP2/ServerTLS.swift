import COpenSSL
import Glibc

/// The server's certificate and what it offers: TLS 1.2 or later, `h2` by ALPN; a client that sends
/// no ALPN at all is taken too.
final class ServerTLS {
  let context: OpaquePointer

  /// - Throws: ``TLSError`` that names the file when it cannot be read or does not fit.
  init(certificateFile: String, keyFile: String) throws(TLSError) {
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw TLSError("no TLS context") }
    self.context = context
    // A peer that goes away while we write is an error to handle, not a signal to die of.
    signal(SIGPIPE, SIG_IGN)
    lockstep_tls_prepare(context)
    SSL_CTX_set_num_tickets(context, 0)
    guard SSL_CTX_use_certificate_chain_file(context, certificateFile) == 1 else {
      throw TLSError("certificate \(certificateFile)")
    }
    guard SSL_CTX_use_PrivateKey_file(context, keyFile, SSL_FILETYPE_PEM) == 1 else {
      throw TLSError("key \(keyFile)")
    }
    SSL_CTX_set_alpn_select_cb(context, chooseProtocol, nil)
  }

  deinit { SSL_CTX_free(context) }
}

/// The ALPN wire form of `h2`.
let http2Protocol: [UInt8] = [2, 0x68, 0x32]

private let chooseProtocol:
  @convention(c) (
    OpaquePointer?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
    UnsafePointer<UInt8>?, UInt32, UnsafeMutableRawPointer?
  ) -> Int32 = { _, chosen, chosenCount, offered, offeredCount, _ in
    guard let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    var index = 0
    while index < Int(offeredCount) {
      let count = Int(offered[index])
      if count == 2, index + 2 < Int(offeredCount), offered[index + 1] == 0x68,
        offered[index + 2] == 0x32
      {
        chosen?.pointee = offered + index + 1
        chosenCount?.pointee = 2
        return SSL_TLSEXT_ERR_OK
      }
      index += 1 + count
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
  }

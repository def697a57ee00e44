import COpenSSL
import Glibc

/// What a client trusts and offers: TLS 1.2 or later, `h2` by ALPN, the server's certificate
/// checked against its host name.
package final class ClientTLS {
  private let context: OpaquePointer

  /// - Parameter authorityFile: PEM; nil: the system's store.
  /// - Throws: ``TLSError`` that names the file when it cannot be read.
  package init(authorityFile: String? = nil) throws(TLSError) {
    guard let context = SSL_CTX_new(TLS_client_method()) else { throw TLSError("no TLS context") }
    self.context = context
    // A peer that goes away while we write is an error to handle, not a signal to die of.
    signal(SIGPIPE, SIG_IGN)
    lockstep_tls_prepare(context)
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
    SSL_CTX_set_alpn_protos(context, http2Protocol, UInt32(http2Protocol.count))
    let loaded =
      authorityFile.map { SSL_CTX_load_verify_locations(context, $0, nil) }
      ?? SSL_CTX_set_default_verify_paths(context)
    guard loaded == 1 else {
      throw TLSError("certificate authority \(authorityFile ?? "of the system")")
    }
  }

  deinit { SSL_CTX_free(context) }

  /// TLS over a connected socket, which is closed in every case. `host` is the DNS name or IP
  /// address that the certificate must be for.
  func socket(descriptor: Int32, host: String) throws(TLSError) -> SecureSocket {
    let socket = try SecureSocket(context: context, descriptor: descriptor)
    SSL_set_connect_state(socket.ssl)
    if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(socket.ssl), host) == 1 { return socket }
    ERR_clear_error()
    guard SSL_set1_host(socket.ssl, host) == 1,
      lockstep_tls_set_server_name(socket.ssl, host) == 1
    else { throw TLSError("host name \(host)") }
    return socket
  }
}

extension SecureSocket {
  /// Why the other side's certificate was refused; nil when it was not.
  var certificateProblem: String? {
    let code = SSL_get_verify_result(ssl)
    return code == X509_V_OK ? nil : String(cString: X509_verify_cert_error_string(code))
  }

  /// ALPN agreed on HTTP/2.
  var speaksHTTP2: Bool {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    guard let name, count == 2 else { return false }
    return name[0] == http2Protocol[1] && name[1] == http2Protocol[2]
  }
}

import COpenSSL
import Foundation
import ServiceRuntime

/// A certificate authority made at run time, for the simulator and for tests: nobody else trusts
/// it.
package struct SelfSignedAuthority {
  /// One server's certificate and key, as PEM files.
  package struct Identity: Sendable {
    package let certificateFile: String
    package let keyFile: String
  }

  /// PEM: what a client must trust.
  package let authorityFile: String
  private let directory: URL
  private let certificate: Certificate

  /// Makes the authority and writes `authority.pem` into `directory`, which must exist.
  ///
  /// - Throws: ``TLSError``, or what writing the file threw.
  package init(directory: URL, named name: String = "Lockstep test authority") throws {
    self.directory = directory
    certificate = try Certificate(
      name: name, extensions: [(NID_basic_constraints, "critical,CA:TRUE")], signedBy: nil)
    let file = directory.appendingPathComponent("authority.pem")
    try PrivateFile.write(certificate.certificatePEM, to: file.path)
    authorityFile = file.path
  }

  /// Makes a server's certificate, valid from an hour ago for ten days, and writes `<file>.pem` and
  /// `<file>-key.pem`. It is good for these DNS names and IP addresses.
  package func issue(
    names: [String] = ["localhost"], addresses: [String] = ["127.0.0.1"], file: String = "server"
  ) throws -> Identity {
    let alternatives = names.map { "DNS:\($0)" } + addresses.map { "IP:\($0)" }
    let made = try Certificate(
      name: names.first ?? addresses.first ?? file,
      extensions: [(NID_subject_alt_name, alternatives.joined(separator: ","))],
      signedBy: certificate)
    let certificateFile = directory.appendingPathComponent("\(file).pem")
    let keyFile = directory.appendingPathComponent("\(file)-key.pem")
    try PrivateFile.write(made.certificatePEM, to: certificateFile.path)
    try PrivateFile.write(made.keyPEM, to: keyFile.path)
    return Identity(certificateFile: certificateFile.path, keyFile: keyFile.path)
  }
}

/// A certificate and its P-256 key.
private final class Certificate {
  private static let secondsBefore = -3600
  private static let secondsAfter = 10 * 86_400

  private let certificate: OpaquePointer
  private let key: OpaquePointer

  /// Without a signer it signs itself.
  init(name: String, extensions: [(Int32, String)], signedBy signer: Certificate?) throws {
    guard let certificate = X509_new() else { throw TLSError("no certificate") }
    guard let key = lockstep_tls_make_p256_key() else {
      X509_free(certificate)
      throw TLSError("no key")
    }
    self.certificate = certificate
    self.key = key
    X509_set_version(certificate, 2)
    ASN1_INTEGER_set_int64(
      X509_get_serialNumber(certificate), Int64.random(in: 1...Int64.max))
    X509_gmtime_adj(X509_getm_notBefore(certificate), Self.secondsBefore)
    X509_gmtime_adj(X509_getm_notAfter(certificate), Self.secondsAfter)
    X509_set_pubkey(certificate, key)
    let subject = X509_get_subject_name(certificate)
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0)
    let issuer = signer?.certificate ?? certificate
    X509_set_issuer_name(certificate, X509_get_subject_name(issuer))
    for (kind, value) in extensions { try add(kind, value, issuer: issuer) }
    guard X509_sign(certificate, signer?.key ?? key, EVP_sha256()) > 0 else {
      throw TLSError("could not sign the certificate of \(name)")
    }
  }

  deinit {
    X509_free(certificate)
    EVP_PKEY_free(key)
  }

  private func add(_ kind: Int32, _ value: String, issuer: OpaquePointer) throws {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
    guard let made = X509V3_EXT_conf_nid(nil, &context, kind, value) else {
      throw TLSError("certificate extension \(value)")
    }
    defer { X509_EXTENSION_free(made) }
    X509_add_ext(certificate, made, -1)
  }

  var certificatePEM: Data { pem { PEM_write_bio_X509($0, certificate) } }
  var keyPEM: Data { pem { PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) } }

  private func pem(_ write: (OpaquePointer?) -> Int32) -> Data {
    let memory = BIO_new(BIO_s_mem())
    defer { BIO_free(memory) }
    _ = write(memory)
    var bytes = [UInt8](repeating: 0, count: 8192)
    let count = BIO_read(memory, &bytes, Int32(bytes.count))
    return Data(bytes.prefix(Int(max(0, count))))
  }
}

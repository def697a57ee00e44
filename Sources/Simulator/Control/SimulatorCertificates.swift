import Foundation
import HTTP2

/// The simulator's own authority and certificate, made anew at each start.
struct SimulatorCertificates {
  /// PEM: `ca.pem` in the directory.
  let authorityFile: String
  private let identity: SelfSignedAuthority.Identity

  init(directory: String) throws {
    let place = URL(fileURLWithPath: directory, isDirectory: true)
    let authority = try SelfSignedAuthority(directory: place, named: "Lockstep simulator")
    identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"], file: "apns")
    let file = place.appendingPathComponent("ca.pem")
    try Data(contentsOf: URL(fileURLWithPath: authority.authorityFile))
      .write(to: file, options: .atomic)
    authorityFile = file.path
  }

  func server(
    port: UInt16, settings: HTTP2Server.Settings, elapsed: @escaping @Sendable () -> Duration,
    handler: @escaping @Sendable (HTTP2Request) -> HTTP2Reply
  ) throws -> HTTP2Server {
    try HTTP2Server(
      port: port, certificateFile: identity.certificateFile, keyFile: identity.keyFile,
      settings: settings, elapsed: elapsed, handler: handler)
  }
}

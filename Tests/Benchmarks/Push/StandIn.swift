import Foundation
import Glibc
import HTTP2
import ServiceRuntime

/// A server that takes every push: it echoes the apns-id, as APNs does, and nothing else.
enum StandIn {
  /// Writes `ca.pem` and `port` into the directory and serves until the process is told to end.
  static func serve(directory: String) throws {
    let place = URL(filePath: directory, directoryHint: .isDirectory)
    let authority = try SelfSignedAuthority(directory: place)
    let identity = try authority.issue(names: ["localhost"], addresses: ["127.0.0.1"])
    try Data(contentsOf: URL(filePath: authority.authorityFile))
      .write(to: place.appending(path: "ca.pem"))
    let server = try HTTP2Server(
      certificateFile: identity.certificateFile, keyFile: identity.keyFile, handler: answer)
    try Data("\(server.port)".utf8).write(to: place.appending(path: "port"), options: .atomic)
    let stop = StopSignal()
    stop.raiseOnTermination()
    while !stop.wait(atMost: .seconds(3600)) {}
    server.stop()
  }

  private static let answer: @Sendable (HTTP2Request) -> HTTP2Reply = { request in
    .respond(HTTP2Response(status: 200, headers: [("apns-id", request.header("apns-id") ?? "")]))
  }
}

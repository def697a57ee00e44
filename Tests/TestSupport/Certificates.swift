import Foundation
import Testing

/// Certificates for one test, made by openssl.
package enum Certificates {
  /// Puts into `directory`/tls what a server on `localhost` has: `certificate.pem`, `key.pem`, the
  /// authority's `ca.pem`; and `other.pem`, an authority that has nothing to do with it.
  package static func make(in directory: URL) throws {
    let tls = directory.appending(path: "tls")
    try FileManager.default.createDirectory(at: tls, withIntermediateDirectories: true)
    let curve = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
    for name in ["ca", "other"] {
      try openssl(
        "req -x509 \(curve) -keyout \(name)-key.pem -out \(name).pem -subj /CN=\(name) -days 2",
        in: tls)
    }
    try Data("subjectAltName=DNS:localhost\n".utf8).write(to: tls.appending(path: "names"))
    try openssl("req \(curve) -keyout key.pem -out request.pem -subj /CN=localhost", in: tls)
    try openssl(
      "x509 -req -in request.pem -CA ca.pem -CAkey ca-key.pem -CAcreateserial -days 2 "
        + "-extfile names -out certificate.pem", in: tls)
  }

  private static func openssl(_ arguments: String, in directory: URL) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = arguments.split(separator: " ").map(String.init)
    process.currentDirectoryURL = directory
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "openssl \(arguments)")
  }
}

import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing

@Suite(.serialized) struct TLSTests {
  private func openssl(_ arguments: String, in directory: URL) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments = arguments.split(separator: " ").map(String.init)
    process.currentDirectoryURL = directory
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "openssl \(arguments)")
  }

  /// A certificate for `localhost`, its authority, and an authority that has nothing to do with it.
  private func certificates(_ directory: URL) throws {
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

  @Test func `only a broker with the right name and authority is spoken to`() throws {
    let broker = try PrivateBroker(prepare: certificates)
    func authorities(_ name: String) -> String {
      broker.directory.appending(path: "tls/\(name).pem").path(percentEncoded: false)
    }
    let url = try broker.tlsURL
    let management = try BrokerUnderTest(url: url, managementURL: broker.managementURL)
    let right = try BrokerAddress(url: management.url, authoritiesFile: authorities("ca"))
    let world = try TestTopology(on: management, address: right)
    let link = try world.link(.apns, prefetch: 500)
    let outcomes = try link.publish((0..<500).map { world.job("m\($0)", for: .apns, size: 5000) })
    #expect(outcomes.allSatisfy { $0 == .confirmed })
    let taken = try link.take(500, atOnce: 7) { try $0.acknowledge($1.map(\.tag)) }
    #expect(taken.map(\.message.id) == (0..<500).map { "m\($0)" })
    link.close()

    let refused = [
      try BrokerAddress(url: url, authoritiesFile: authorities("other")),
      try BrokerAddress(url: url),
      try BrokerAddress(
        url: url.replacing("localhost", with: "127.0.0.1"), authoritiesFile: authorities("ca")),
      try BrokerAddress(url: url, authoritiesFile: "/nowhere.pem"),
    ]
    for address in refused {
      let publisher = RabbitMQPublisher(
        address, name: "test", time: SystemTime(), log: .discarding)
      #expect(throws: BrokerLost.self) { try publisher.open() }
    }
  }
}

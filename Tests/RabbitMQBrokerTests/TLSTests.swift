import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing

@Suite(.serialized) struct TLSTests {
  @Test func `only a broker with the right name and authority is spoken to`() throws {
    let broker = try PrivateBroker(prepare: Certificates.make)
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

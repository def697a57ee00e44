import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing

@Suite(.serialized) struct PermissionTests {
  /// Makes the accounts of queues.yaml with names of this virtual host, since accounts are the
  /// whole broker's.
  private func account(_ name: String, in world: TestTopology) throws -> BrokerAddress {
    let user = try #require(world.topology.users.first { $0.name == name })
    let account = "\(name)-\(world.broker.virtualHost)"
    try world.broker.manage(
      "PUT", "/api/users/\(account)", #"{"password":"secret","tags":""}"#)
    let rights = user.permissions
    let json = try JSONEncoder().encode([
      "configure": rights.configure, "write": rights.write, "read": rights.read,
    ])
    try world.broker.manage(
      "PUT", "/api/permissions/\(world.broker.virtualHost)/\(account)",
      String(decoding: json, as: UTF8.self))
    return try BrokerAddress(
      url: world.broker.url.replacing("guest:guest@", with: "\(account):secret@"))
  }

  @Test func `a worker's account can do its work and nothing else`() throws {
    let yaml = try String(contentsOfFile: QueuesFileTests.path, encoding: .utf8)
    let world = try TestTopology(yaml: yaml)
    let address = try account("apns-sender", in: world)
    defer {
      _ = try? world.broker.manage(
        "DELETE", "/api/users/apns-sender-\(world.broker.virtualHost)")
    }
    let routes = world.topology.routes
    try RabbitMQTopology.check(routes, stage: .apns, at: address, time: SystemTime())
    let link = RabbitMQLink(
      address, queue: "apns", prefetch: 10, name: "test", time: SystemTime(), log: .discarding)
    try link.open()
    let message = world.job("a", for: .apns).message
    let outputs =
      routes[.apns].ladder.rungs.flatMap(\.exchanges).map { ($0, "") }
      + [("dead", "apns"), ("apns", "apns")]
    let outcomes = try link.publish(
      outputs.map { OutgoingMessage(exchange: $0.0, routingKey: $0.1, message: message) })
    #expect(outcomes.allSatisfy { $0 == .confirmed })
    for exchange in ["events", "build", "notify", "retry.build.5s", ""] {
      let lost = #expect(throws: BrokerLost.self) {
        try link.open()
        _ = try link.publish([
          OutgoingMessage(exchange: exchange, routingKey: "build", message: message)
        ])
      }
      #expect(lost?.reason.contains("403 ACCESS_REFUSED") == true)
    }
    let other = RabbitMQLink(
      address, queue: "notify", prefetch: 10, name: "test", time: SystemTime(), log: .discarding)
    let lost = #expect(throws: BrokerLost.self) { try other.open() }
    #expect(lost?.reason.contains("403 ACCESS_REFUSED") == true)
    let failure = #expect(throws: TopologyFailure.self) {
      try RabbitMQTopology.apply(world.topology, at: address, time: SystemTime())
    }
    #expect(failure?.description.contains("403 ACCESS_REFUSED") == true)
  }
}

import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing

/// A message that a rung cannot hand over, as in the moments when a broker starts: queues are back,
/// exchanges are not.
@Suite(.serialized) struct HeldMessageTests {
  @Test func `what a rung cannot hand over is shown as retrying, and comes within seconds`() throws
  {
    let node = try PrivateBroker()
    let broker = try BrokerUnderTest(url: node.url, managementURL: node.managementURL)
    let world = try TestTopology(on: broker)
    let watch = QueueWatch(
      world.topology, at: world.address,
      management: try BrokerManagement(
        url: node.managementURL, virtualHost: world.address.virtualHost), time: SystemTime())
    try broker.manage("DELETE", "/api/exchanges/\(broker.virtualHost)/apns")
    let job = OutgoingMessage(
      exchange: "retry.apns.50ms", routingKey: "apns",
      message: world.job("held", for: .apns).message)
    #expect(try world.publisher().publish([job]) == [.confirmed])
    var retrying = 0
    let isShown = becomesTrue(within: .seconds(30)) {
      // A look that fails is one that does not know yet.
      let row = try? watch.look().rows.first { $0.owner == "apns" }
      retrying = row?.retrying ?? 0
      return retrying == 1 && row?.depth == 0
    }
    #expect(isShown, "\(retrying) are shown")
    try RabbitMQTopology.apply(world.topology, at: world.address, time: SystemTime())
    let link = try world.link(.apns)
    defer { link.close() }
    #expect(try link.take(1, within: .seconds(30)).map(\.message.id) == ["held"])
  }
}

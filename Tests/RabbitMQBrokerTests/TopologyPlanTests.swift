import Foundation
import HTTPClient
import Pipeline
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

@testable import RabbitMQBroker

@Suite(.serialized) struct TopologyPlanTests {
  private func management(_ broker: BrokerUnderTest) throws -> BrokerManagement {
    let url = try #require(
      ProcessInfo.processInfo.environment["LOCKSTEP_TEST_AMQP_MANAGEMENT_URL"])
    return try BrokerManagement(url: url, virtualHost: broker.virtualHost)
  }

  private func plan(_ topology: Topology, _ broker: BrokerUnderTest) throws -> TopologyPlan {
    TopologyPlan(topology, found: try management(broker).contents())
  }

  @Test func `what apply made shows no difference`() throws {
    let world = try TestTopology(
      yaml: try String(contentsOfFile: QueuesFileTests.path, encoding: .utf8))
    let plan = try plan(world.topology, world.broker)
    #expect(plan.drifts == [])
    #expect(
      plan.notes.map { $0.hasPrefix("no rights on this virtual host have: topology") } == [true])
  }

  @Test func `what is exported and imported shows no difference`() throws {
    let topology = try Topology(file: QueuesFileTests.path)
    let broker = try BrokerUnderTest()
    let definitions = topology.definitions(virtualHost: broker.virtualHost)
    #expect(!(try plan(topology, broker)).drifts.isEmpty)
    try broker.manage(
      "POST", "/api/definitions", String(decoding: definitions.encoded, as: UTF8.self))
    #expect(try plan(topology, broker).drifts == [])
    // And declaring on top of it is no mistake either: types and widths of arguments agree.
    try RabbitMQTopology.apply(
      topology, at: try BrokerAddress(url: broker.url), time: SystemTime())
  }

  @Test func `each difference is named`() throws {
    let world = try TestTopology()
    let host = world.broker.virtualHost
    try world.broker.deleteQueue("dead.webpush")
    try world.broker.manage(
      "DELETE", "/api/bindings/\(host)/e/events/q/build/cooksuggest.session.*")
    try world.broker.manage(
      "POST", "/api/bindings/\(host)/e/events/q/apns", ##"{"routing_key":"#"}"##)
    try world.broker.manage(
      "PUT", "/api/queues/\(host)/retry.apns.7s", #"{"durable":true,"arguments":{}}"#)
    try world.broker.manage(
      "PUT", "/api/queues/\(host)/somebody-elses", #"{"durable":true,"arguments":{}}"#)
    try world.broker.manage("DELETE", "/api/exchanges/\(host)/webpush")
    try world.broker.manage(
      "PUT", "/api/exchanges/\(host)/webpush", #"{"type":"topic","durable":true}"#)
    try world.broker.manage(
      "PUT", "/api/policies/\(host)/short",
      #"{"pattern":"^notify$","definition":{"message-ttl":5},"apply-to":"queues"}"#)
    let yaml = TestTopology.yaml.replacing(
      "rungs: [50ms, 100ms,", with: "delivery-limit: 7, rungs: [50ms, 100ms,")
    let wanted = try Topology(yaml: yaml)
    var plan = try plan(wanted, world.broker)
    // A policy takes effect a moment after it was set.
    #expect(
      becomesTrue {
        guard let next = try? self.plan(wanted, world.broker) else { return false }
        plan = next
        return next.drifts.contains { $0.object == "queue notify" }
      })
    let lines = Set(plan.drifts.map { "\($0.kind.rawValue) \($0)" })
    for line in [
      "missing queue dead.webpush: is missing",
      "missing binding of queue dead.webpush to dead with key webpush: is missing",
      "missing binding of queue build to events with key cooksuggest.session.*: is missing",
      "missing binding of queue webpush to webpush with key webpush: is missing",
      "surplus binding of queue apns to events with key #: is not in queues.yaml",
      "surplus queue retry.apns.7s: is not in queues.yaml",
      "differs exchange webpush: type is topic, queues.yaml says direct",
      "differs queue apns: x-delivery-limit is 50, queues.yaml says 7",
      "surplus queue notify: policy short sets message-ttl to 5",
    ] { #expect(lines.contains(line), "\(line)") }
    #expect(!lines.contains { $0.contains("somebody-elses") })
    #expect(plan.queuesToRemake.contains("apns"))
    #expect(plan.exchangesToRemake == ["webpush"])
  }

  @Test func `rights that differ are named, and set as queues.yaml says`() throws {
    let world = try TestTopology(
      yaml: TestTopology.yaml + "\nusers: { role-\(UUID().uuidString): { work: [apns] } }")
    let user = world.topology.users[0]
    let management = try management(world.broker)
    try management.makeUser(user.name, password: "secret", tags: [])
    defer { _ = try? world.broker.manage("DELETE", "/api/users/\(user.name)") }
    try management.setPermissions(of: user.name, to: (".*", "", "^apns$"))
    let lines = try plan(world.topology, world.broker).drifts.map(\.description)
    #expect(lines.count == 3)
    #expect(lines.first == "user \(user.name): configure is .*, queues.yaml says ^$")
    try management.setPermissions(of: user.name, to: user.permissions)
    #expect(try plan(world.topology, world.broker).drifts == [])
    #expect(try #require(try management.users()).contains(user.name))
  }

  @Test func `a virtual host that is not there misses everything`() throws {
    let broker = try BrokerUnderTest()
    let topology = try Topology(yaml: TestTopology.yaml)
    let url = try #require(
      ProcessInfo.processInfo.environment["LOCKSTEP_TEST_AMQP_MANAGEMENT_URL"])
    let nowhere = try BrokerManagement(url: url, virtualHost: broker.virtualHost + "/other")
    let plan = TopologyPlan(topology, found: try nowhere.contents())
    #expect(
      plan.drifts.count == topology.exchanges.count + topology.queues.count
        + topology.bindings.count)
    #expect(plan.drifts.allSatisfy { $0.kind == .missing })
  }

  @Test func `a wrong password is said without it`() throws {
    let broker = try BrokerUnderTest()
    let url = try #require(
      ProcessInfo.processInfo.environment["LOCKSTEP_TEST_AMQP_MANAGEMENT_URL"])
    let wrong = try BrokerManagement(
      url: url.replacing("guest:guest@", with: "guest:hidden@"), virtualHost: broker.virtualHost)
    let failure = #expect(throws: ManagementFailure.self) { _ = try wrong.contents() }
    guard case .answered(status: 401, let text) = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    #expect(!text.contains("hidden"))
    #expect(throws: ManagementFailure.self) {
      try BrokerManagement(url: "ftp://a:b@c", virtualHost: "/")
    }
  }

  @Test func `the recipe binds the other queue before it unbinds, and moves before it deletes`()
    throws
  {
    let topology = try Topology(yaml: TestTopology.yaml)
    let lines = MigrationRecipe.lines(queue: "build", in: topology, virtualHost: "/")
    func place(_ part: String) throws -> Int {
      try #require(lines.firstIndex { $0.contains(part) }, "\(part)")
    }
    let order = [
      try place("PUT \"$M/api/queues/%2F/build.moving\""),
      try place("POST \"$M/api/bindings/%2F/e/events/q/build.moving\""),
      try place("DELETE \"$M/api/bindings/%2F/e/events/q/build/cooksuggest.session.*\""),
      try place("lockstep topology move build build.moving"),
      try place("DELETE \"$M/api/queues/%2F/build\""), try place("lockstep topology apply"),
      try place("DELETE \"$M/api/bindings/%2F/e/build/q/build.moving/build\""),
      try place("lockstep topology move build.moving build"),
      try place("DELETE \"$M/api/queues/%2F/build.moving\""),
    ]
    #expect(order == order.sorted())
  }
}

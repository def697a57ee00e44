import APNsTransport
import Foundation
import HTTP2
import Pipeline
import Pushes
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

/// The way to APNs: names, addresses, both protocols.
@Suite struct ReachingTests {
  private static let name = "api.push.test"

  /// What a name leads to, changeable while a transport runs; and how often it was asked for.
  private final class NameServer: Sendable {
    private let state: Mutex<(addresses: [String], asked: Int)>

    init(_ addresses: [String]) { state = Mutex((addresses, 0)) }

    var asked: Int { state.withLock { $0.asked } }

    func change(to addresses: [String]) { state.withLock { $0.addresses = addresses } }

    func resolver(of name: String) -> AddressResolver {
      AddressResolver { [self] host in
        guard host == name else { return [host] }
        return state.withLock {
          $0.asked += 1
          return $0.addresses
        }
      }
    }
  }

  private func transport(
    to host: String, of apns: StandIn, _ names: NameServer? = nil,
    _ change: (inout APNsTransportSettings) -> Void = { _ in }
  ) throws -> APNsTransport {
    var settings = try apns.settings(host: host)
    settings.connectionsPerEnvironment = 1
    settings.reconnectDelayMost = .milliseconds(20)
    settings.reconnectDelayLeast = .milliseconds(1)
    change(&settings)
    return try APNsTransport(
      settings: settings, tokens: StandIn.tokens(), time: SystemTime(), log: .discarding,
      metrics: Metrics(), resolver: names?.resolver(of: Self.name) ?? .system)
  }

  @Test(arguments: Loopback.allCases)
  func `both protocols are spoken, to an address as to a name`(loopback: Loopback) throws {
    let apns = try StandIn(
      names: [Self.name], addresses: [loopback.text], on: loopback)
    let literal = loopback == .v6 ? "[::1]" : "127.0.0.1"
    #expect(apns.push([request(1)], through: try transport(to: literal, of: apns)))
    let names = NameServer([loopback.text])
    #expect(apns.push([request(2)], through: try transport(to: Self.name, of: apns, names)))
    #expect(apns.statuses == [200: 2])
    let authorities = apns.record.seen.map { $0.request.header(":authority") ?? "" }
    #expect(authorities == ["\(literal):\(apns.server.port)", "\(Self.name):\(apns.server.port)"])
  }

  @Test func `an address where nobody listens is passed over for the next`() throws {
    let apns = try StandIn(names: [Self.name], on: .v4)
    // Nobody listens on that port of ::1.
    let names = NameServer(["::1", "127.0.0.1"])
    let transport = try transport(to: Self.name, of: apns, names)
    #expect(apns.push([request(1)], through: transport))
    #expect(apns.statuses == [200: 1])
    #expect(names.asked == 1)
  }

  @Test func `each connection asks for the name anew, and goes where it leads now`() throws {
    let apns = try StandIn(names: [Self.name], on: .v4)
    let moved = Mutex<[String]>([])
    let elsewhere = try HTTP2Server(
      on: .v6, port: apns.server.port, certificateFile: apns.identity.certificateFile,
      keyFile: apns.identity.keyFile
    ) { request in
      moved.withLock { $0.append(request.header("apns-id") ?? "") }
      return StandIn.ok
    }
    defer { elsewhere.stop() }
    let names = NameServer(["127.0.0.1"])
    let transport = try transport(to: Self.name, of: apns, names)
    #expect(apns.push(requests(3), through: transport))
    #expect(names.asked == 1, "a connection that lives asks for nothing")
    names.change(to: ["::1"])
    #expect(apns.push([request(4)], through: transport), "nor does it leave")
    apns.server.drop()
    #expect(apns.drive(transport) { apns.server.openConnections == 0 })
    #expect(apns.push([request(5)], through: transport))
    #expect(apns.statuses == [200: 5])
    #expect(names.asked == 2)
    #expect(apns.record.seen.count == 4)
    #expect(moved.withLock { $0 } == [request(5).apnsID])
  }

  @Test func `a name that leads nowhere is told, and tried again`() throws {
    let apns = try StandIn(names: [Self.name], on: .v4)
    let names = NameServer([])
    let transport = try transport(to: Self.name, of: apns, names) {
      $0.requestTimeout = .milliseconds(300)
    }
    #expect(apns.push([request(1)], through: transport))
    guard case .neverProcessed(let reason) = apns.outcomes[1] else {
      Issue.record("\(String(describing: apns.outcomes[1]))")
      return
    }
    #expect(reason.contains("lookup of \(Self.name): no address"))
    names.change(to: ["127.0.0.1"])
    #expect(apns.drive(transport) { transport.capacity > 0 })
    #expect(apns.push([request(2)], through: transport))
    #expect(apns.status(2) == 200)
    #expect(names.asked >= 2)
  }
}

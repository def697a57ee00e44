import Cryptography
import Foundation
import HTTPClient
import HTTPServing
import ServiceRuntime
import Simulator
import Synchronization
import TestSupport
import Vocabulary

/// A simulator on ports of its own, with a clock that stands and a stand-in for the Lockstep API.
final class RunningSimulator: Sendable {
  let time = ManualTime(Making.now)
  let api: StandInAPI
  let simulator: Simulator
  private let directory: URL
  private let stop = StopSignal()
  private let runner: OwnedThread

  init(change: (inout SimulatorSettings) -> Void = { _ in }) throws {
    directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("simulator-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    api = try StandInAPI()
    var settings = SimulatorSettings(
      certificateDirectory: directory.path, bundleID: Making.bundle, teamID: Making.team,
      keyID: Making.keyID, providerPublicKey: Making.key.publicKey, apiURL: api.url)
    settings.seed = 11
    change(&settings)
    let time = time
    let simulator = try Simulator(settings, log: .discarding, now: { time.now() })
    self.simulator = simulator
    let stop = stop
    runner = OwnedThread.start(named: "simulator") { simulator.run(until: stop) }
  }

  deinit {
    stop.raise()
    _ = becomesTrue { runner.hasEnded }
    api.server.stop()
    // A directory that stays behind in the system's temporary place harms nobody.
    try? FileManager.default.removeItem(at: directory)
  }

  var control: String { "http://127.0.0.1:\(simulator.controlPort)" }

  func call(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> (Int, JSONValue) {
    let answer = try HTTPClient().send(method, control + path, body: body?.encoded)
    return (answer.status, try JSONValue(parsing: answer.body))
  }

  func addPhone(_ user: String) throws -> NewPhone {
    try simulator.add(
      PhoneOrder(userID: UserID(user), name: user.capitalized, token: "jwt-\(user)"))
  }

  func phone(_ id: String) -> VirtualPhone? {
    simulator.world.read { $0.fleet.phones[id] }
  }

  /// Sends one push over HTTP/2 and TLS, on a connection of its own.
  func push(
    _ body: JSONValue, to token: String, _ changes: [String: String?] = [:],
    port: UInt16? = nil, timeout: Duration = .seconds(10)
  ) throws -> HTTPClientResponse {
    let headers = Making.headers(changes).map { ($0.name, $0.value) }
    return try HTTPClient(timeout: timeout, caFile: simulator.authorityFile).send(
      "POST", "https://127.0.0.1:\(port ?? simulator.apnsPort)/3/device/\(token)",
      headers: Dictionary(headers) { $1 }, body: body.encoded)
  }
}

/// Hears what phones say and tells them one session.
final class StandInAPI: Sendable {
  struct Call: Hashable, Sendable {
    let caller: String
    let method: String
    let path: String
    let body: JSONValue
  }

  private struct State {
    var calls: [Call] = []
    var status = 200
    var session: JSONValue = [:]
  }

  let server: HTTPServer
  private let state: Shared

  // Both the server's handler and the test hold it.
  private final class Shared: Sendable { let value = Mutex(State()) }

  init() throws {
    let state = Shared()
    self.state = state
    server = try HTTPServer(address: ListenAddress(host: "127.0.0.1", port: 0), log: .discarding) {
      request in
      state.value.withLock { state in
        if request.method == "GET" {
          let etag = "\"\(Digest.sha256(state.session.encoded).hex.prefix(16))\""
          if request.header("if-none-match") == etag { return .empty(304) }
          var answer = HTTPResponse.json(200, state.session)
          answer.headers.append(("etag", etag))
          return answer
        }
        // Only the phones of this test call here, and they send JSON.
        let body = (try? JSONValue(parsing: request.body)) ?? .null
        if state.status == 200 {
          state.calls.append(
            Call(
              caller: request.header("authorization") ?? "", method: request.method,
              path: request.path, body: body))
        }
        return .json(state.status, [:] as JSONValue)
      }
    }
  }

  var url: String { "http://127.0.0.1:\(server.port)/" }
  var calls: [Call] { state.value.withLock { $0.calls } }

  func answer(_ status: Int) { state.value.withLock { $0.status = status } }
  func tell(_ session: JSONValue) { state.value.withLock { $0.session = session } }

  func registrations(_ kind: String) -> [JSONValue] {
    calls.filter { $0.path == "/api/apns/register" && $0.body["kind"] == .string(kind) }
      .map(\.body)
  }
}

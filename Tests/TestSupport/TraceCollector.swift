import Foundation
import HTTPServing
import ServiceRuntime
import Synchronization

/// A collector on loopback that keeps what it is sent and answers what it is told to.
package final class TraceCollector: Sendable {
  package struct Request: Sendable {
    package let path: String
    package let contentType: String?
    package let authorization: String?
    package let body: Data
  }

  private struct State {
    var status = 200
    var requests: [Request] = []
  }

  private final class Box: Sendable { let state = Mutex(State()) }
  private let box: Box
  private let server: HTTPServer

  package init() throws {
    let box = Box()
    self.box = box
    server = try HTTPServer(
      address: ListenAddress("127.0.0.1:0"), limits: HTTPLimits(bodyBytesMax: 4 * 1024 * 1024),
      threading: .pool(1), log: .discarding,
      refusal: { .text($0.status, "refused: \($0)") },
      handler: { request in
        box.state.withLock { state in
          state.requests.append(
            Request(
              path: request.path, contentType: request.header("content-type"),
              authorization: request.header("authorization"), body: request.body))
          return .text(state.status, state.status == 200 ? "{}" : "not now")
        }
      })
  }

  deinit { server.stop() }

  package var endpoint: String { "http://127.0.0.1:\(server.port)" }
  package var requests: [Request] { box.state.withLock { $0.requests } }
  package func answer(_ status: Int) { box.state.withLock { $0.status = status } }
}

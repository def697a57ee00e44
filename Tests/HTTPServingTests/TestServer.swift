import Foundation
import Glibc
import HTTPServing
import ServiceRuntime

/// Starts servers on a port the kernel chooses.
enum TestServer {
  /// Answers with what it was asked: method, path, query, length of the body, peer.
  static let echo: @Sendable (HTTPRequest) -> HTTPResponse = { request in
    let query = request.query.map { "\($0.name)=\($0.value)" }.joined(separator: ";")
    return .text(
      200,
      "\(request.method)|\(request.path)|\(query)|\(request.body.count)|\(request.remoteAddress)")
  }

  static func start(
    limits: HTTPLimits = HTTPLimits(), threading: HTTPThreading = .pool(2),
    handler: @escaping @Sendable (HTTPRequest) -> HTTPResponse = TestServer.echo
  ) throws -> HTTPServer {
    try HTTPServer(
      address: ListenAddress("127.0.0.1:0"), limits: limits, threading: threading,
      log: .discarding,
      refusal: {
        .text($0.status, "refused: \($0)", contentType: "application/problem+json")
      }, handler: handler)
  }
}

/// Asks again and again until it is so, for ten seconds at most.
func eventually(_ isSo: () -> Bool) -> Bool {
  let deadline = ContinuousClock.now + .seconds(10)
  while !isSo() {
    guard ContinuousClock.now < deadline else { return false }
    poll(nil, 0, 5)
  }
  return true
}

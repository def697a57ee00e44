import Foundation
import Vocabulary

/// What a handler answers. `content-length`, `date` and `x-request-id` are added by the server.
package struct HTTPResponse: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: Body

  package enum Body: Sendable {
    case data(Data)
    /// Asked again and again on the connection's own thread, until it says `end`, the peer is gone,
    /// or the server drains or stops. A call may block for a second at most.
    case stream(@Sendable () -> StreamChunk)
  }

  package init(status: Int, headers: [(name: String, value: String)] = [], body: Data = Data()) {
    self.status = status
    self.headers = headers
    self.body = .data(body)
  }

  /// The body when it is not a stream.
  package var data: Data {
    guard case .data(let data) = body else { return Data() }
    return data
  }

  /// No body.
  package static func empty(_ status: Int) -> HTTPResponse { HTTPResponse(status: status) }

  /// Compact JSON. A problem has the content type `application/problem+json`.
  package static func json(
    _ status: Int, _ value: some Encodable, contentType: String = "application/json"
  ) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [("content-type", contentType)], body: JSON.encoded(value))
  }

  package static func text(
    _ status: Int, _ text: String, contentType: String = "text/plain; charset=utf-8"
  ) -> HTTPResponse {
    HTTPResponse(
      status: status, headers: [("content-type", contentType)], body: Data(text.utf8))
  }

  /// An answer without an end known beforehand, such as server-sent events. Only for a server with
  /// ``HTTPThreading/perConnection``: in a pool it would hold up everybody else, and is answered
  /// 500.
  ///
  /// The connection closes with its end. That the peer has gone is seen when the next data is sent:
  /// send something now and then.
  package static func stream(
    contentType: String = "text/event-stream",
    next: @escaping @Sendable () -> StreamChunk
  ) -> HTTPResponse {
    var response = HTTPResponse(
      status: 200, headers: [("content-type", contentType), ("cache-control", "no-store")])
    response.body = .stream(next)
    return response
  }

  /// The first value of this header field, whatever its case; nil when it is not there.
  package func header(_ name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

/// What a stream has to say now.
package enum StreamChunk: Sendable {
  case data(Data)
  /// Nothing yet: ask again. Say it after having waited a while, else the thread spins.
  case wait
  case end
}

/// How much one peer may ask of the server.
package struct HTTPLimits: Sendable {
  /// The longest body in octets; beyond it 413.
  package var bodyBytesMax: Int
  /// Request line and header fields together in octets; beyond it 431.
  package var headerBytesMax: Int
  /// For request line and header fields, however many octets come: from a request's first octet,
  /// and of a connection's first request from when the connection was taken.
  package var headSecondsMax: Int
  /// From the same moment to the request's last octet, and again for taking the answer; a peer that
  /// needs longer is cut off.
  package var requestSecondsMax: Int
  /// How long a connection may carry nothing at all between requests.
  package var idleSecondsMax: Int
  /// Open connections; the next ones wait in the system's queue without an answer.
  package var connectionsMax: Int
  /// Instead of all three times while three quarters of ``connectionsMax`` are taken: who only
  /// holds a connection makes room for the next.
  package var crowdedSecondsMax: Int

  package init(
    bodyBytesMax: Int = 64 * 1024, headerBytesMax: Int = 16 * 1024, headSecondsMax: Int = 10,
    requestSecondsMax: Int = 30, idleSecondsMax: Int = 30, connectionsMax: Int = 2000,
    crowdedSecondsMax: Int = 2
  ) {
    self.bodyBytesMax = bodyBytesMax
    self.headerBytesMax = headerBytesMax
    self.headSecondsMax = headSecondsMax
    self.requestSecondsMax = requestSecondsMax
    self.idleSecondsMax = idleSecondsMax
    self.connectionsMax = connectionsMax
    self.crowdedSecondsMax = crowdedSecondsMax
  }

  /// Half of what the process may open is for others: database, broker, its own admin port.
  func fitting(descriptorsMax: Int) -> HTTPLimits {
    var limits = self
    limits.connectionsMax = min(connectionsMax, max(1, descriptorsMax / 2))
    return limits
  }

  /// How long a peer may hold a connection, by what it does with it.
  func deadlines(connections: Int) -> Deadlines {
    let isCrowded = connections * 4 >= connectionsMax * 3
    let most = isCrowded ? crowdedSecondsMax : .max
    let request = min(requestSecondsMax, most)
    return Deadlines(
      head: .seconds(min(headSecondsMax, request)), request: .seconds(request),
      idle: .seconds(min(idleSecondsMax, most)))
  }
}

struct Deadlines: Hashable {
  let head: Duration
  let request: Duration
  let idle: Duration
}

/// Whose thread runs the handler.
package enum HTTPThreading: Sendable {
  /// So many threads serve all connections: for short answers.
  case pool(Int)
  /// Each connection has a thread: a handler or stream may wait for a while.
  case perConnection
}

/// A request the server refuses before any handler sees it. The connection is closed after it.
package enum HTTPRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong, in words for the caller.
  case malformed(String)
  case bodyTooLarge(bytesMax: Int)
  case headerTooLarge(bytesMax: Int)

  package var status: Int {
    switch self {
    case .malformed: 400
    case .bodyTooLarge: 413
    case .headerTooLarge: 431
    }
  }

  package var description: String {
    switch self {
    case .malformed(let detail): detail
    case .bodyTooLarge(let bytesMax): "The body is longer than \(bytesMax) bytes."
    case .headerTooLarge(let bytesMax): "The header is longer than \(bytesMax) bytes."
    }
  }
}

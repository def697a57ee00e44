/// How much one peer may ask of the server.
package struct HTTPLimits: Sendable {
  /// The longest body in octets; beyond it 413.
  package var bodyBytesMax: Int
  /// Request line and header fields together in octets; beyond it 431.
  package var headerBytesMax: Int
  /// From the first octet of a request to its last, and again for taking the answer; a peer that
  /// needs longer is cut off.
  package var requestSecondsMax: Int
  /// How long a connection may carry nothing at all.
  package var idleSecondsMax: Int
  /// Open connections; the next ones wait in the system's queue without an answer.
  package var connectionsMax: Int

  package init(
    bodyBytesMax: Int = 64 * 1024, headerBytesMax: Int = 16 * 1024, requestSecondsMax: Int = 30,
    idleSecondsMax: Int = 30, connectionsMax: Int = 2000
  ) {
    self.bodyBytesMax = bodyBytesMax
    self.headerBytesMax = headerBytesMax
    self.requestSecondsMax = requestSecondsMax
    self.idleSecondsMax = idleSecondsMax
    self.connectionsMax = connectionsMax
  }
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

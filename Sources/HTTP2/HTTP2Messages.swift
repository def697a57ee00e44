import Foundation

/// One whole request as the server got it.
package struct HTTP2Request: Sendable {
  let block: HeaderBlock
  package let body: Data
  /// Counts the server's connections, from 1.
  package let connection: Int

  init(block: HeaderBlock, body: Data, connection: Int) {
    self.block = block
    self.body = body
    self.connection = connection
  }

  package init(
    method: String, path: String, headers: [(name: String, value: String)] = [],
    body: Data = Data(), connection: Int = 1
  ) {
    block = HeaderBlock([(":method", method), (":path", path)] + headers)
    self.body = body
    self.connection = connection
  }

  package var method: String { block[":method"] ?? "" }
  package var path: String { block[":path"] ?? "" }

  /// Names in lower case, in the order they came, without pseudo fields.
  package var headers: [(name: String, value: String)] {
    block.fields.filter { !$0.name.hasPrefix(":") }
  }

  /// The first value of a header, its name in lower case; nil when it is missing.
  package func header(_ name: String) -> String? { block[name] }
}

package struct HTTP2Response: Sendable {
  package let status: Int
  /// Names in lower case.
  package let headers: [(String, String)]
  package let body: Data

  package init(status: Int, headers: [(String, String)] = [], body: Data = Data()) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}

/// What the server does about one request: an answer, or one of the ways in which a service fails.
package enum HTTP2Reply: Sendable {
  case respond(HTTP2Response)
  case respondAfter(Duration, HTTP2Response)
  case resetStream(errorCode: UInt32)
  /// No answer, ever; the connection itself lives and answers PING.
  case never
  /// Nothing is read from or written to this connection any more, and it stays open: a network
  /// that swallows everything.
  case goDeaf
  /// The TCP connection closes at once.
  case dropConnection
  /// GOAWAY, then the end once the streams that remain are done. With `after`, this stream is the
  /// last that counts and gets that answer; without, it and later ones count as not processed.
  case goAway(debug: String, after: HTTP2Response?)
  /// SETTINGS first, for this connection alone: how many streams it may have open from now on (nil:
  /// as many as at the start).
  indirect case withStreams(UInt32?, then: HTTP2Reply)
}

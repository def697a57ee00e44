import Foundation

/// One complete request: its framing checked, its body whole and within the limit.
package struct HTTPRequest: Sendable {
  /// As sent, `GET`, also when it is one nobody has heard of.
  package let method: String
  /// The path with `%XX` decoded: `/api/me`.
  package let path: String
  /// The path as sent, before any `?`: split this one at `/`, so that a `%2F` stays part of a name.
  package let rawPath: String
  /// Name and value of each query parameter, decoded, in the order sent.
  package let query: [(name: String, value: String)]
  /// Field names in lower case, values as sent, in the order sent.
  package let headers: [(name: String, value: String)]
  package let body: Data
  /// The caller's `x-request-id` when it is 1…64 of `[A-Za-z0-9._-]`, else one made here.
  package let id: String
  /// The peer's numeric address without the port, `127.0.0.1`.
  package let remoteAddress: String

  /// Use it to call a handler in a test; the server makes its own.
  package init(
    method: String, target: RequestTarget, headers: [(name: String, value: String)] = [],
    body: Data = Data(), id: String = RequestID.made(), remoteAddress: String = ""
  ) {
    self.method = method
    path = target.path
    rawPath = target.rawPath
    query = target.query
    self.headers = headers
    self.body = body
    self.id = id
    self.remoteAddress = remoteAddress
  }

  /// The first value of this query parameter; nil when it is not there.
  package func query(_ name: String) -> String? {
    query.first { $0.name == name }?.value
  }

  /// The first value of this header field, whatever its case; nil when it is not there.
  package func header(_ name: String) -> String? {
    let wanted = name.lowercased()
    return headers.first { $0.name == wanted }?.value
  }

  /// The parts of the path between slashes, each decoded on its own; `/` has none.
  package var segments: [String] {
    rawPath.split(separator: "/", omittingEmptySubsequences: true).map {
      percentDecoded($0.utf8, plusIsSpace: false) ?? String($0)
    }
  }
}

/// Names one request in answers and logs.
package enum RequestID {
  package static let charactersMax = 64

  /// 32 random hexadecimal digits.
  package static func made() -> String {
    [UInt64.random(in: 0 ... .max), UInt64.random(in: 0 ... .max)].map {
      let digits = String($0, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// `given` when it is 1…64 of `[A-Za-z0-9._-]`, else one made here: what a caller sends is
  /// written to logs and answers.
  package static func taken(from given: String?) -> String {
    guard let given, (1...charactersMax).contains(given.utf8.count),
      given.utf8.allSatisfy(isAllowed)
    else { return made() }
    return given
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

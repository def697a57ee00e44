import CCurl
import Foundation

/// A whole answer.
package struct HTTPClientResponse: Sendable {
  package let status: Int
  /// Names in lower case; of a repeated field the values are joined by `, `.
  package let headers: [String: String]
  package let body: Data

  /// The body as text; what is not UTF-8 shows as replacement characters.
  package var text: String { String(decoding: body, as: UTF8.self) }
}

/// No whole answer came.
package struct HTTPClientError: Error, Hashable, Sendable, CustomStringConvertible {
  package let method: String
  /// Without user and password.
  package let url: String
  /// Why, as libcurl says it.
  package let reason: String

  init(method: String, url: String, reason: String) {
    self.method = method
    self.url = url.replacing(/\/\/[^\/@]*@/) { _ in "//" }
    self.reason = reason
  }

  package var description: String { "\(method) \(url) failed: \(reason)" }
}

/// An answer while it comes in.
final class IncomingResponse {
  private(set) var headers: [String: String] = [:]
  private(set) var body = Data()
  private(set) var isTooLong = false
  private let bodyBytesMax: Int

  init(bodyBytesMax: Int = HTTPClient.bodyBytesMax) { self.bodyBytesMax = bodyBytesMax }

  fileprivate func takeHeader(_ line: UnsafeRawBufferPointer) {
    let text = String(decoding: line, as: UTF8.self)
    if text.hasPrefix("HTTP/") {
      // An interim answer (100) may have come before.
      headers = [:]
      return
    }
    guard let colon = text.firstIndex(of: ":") else { return }
    let name = text[..<colon].lowercased()
    let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespacesAndNewlines)
    headers[name] = headers[name].map { "\($0), \(value)" } ?? value
  }

  /// - Returns: how many octets were taken; anything but all ends the transfer.
  fileprivate func takeBody(_ piece: UnsafeRawBufferPointer) -> Int {
    guard body.count + piece.count <= bodyBytesMax else {
      isTooLong = true
      return 0
    }
    body.append(contentsOf: piece)
    return piece.count
  }
}

let takeHeader: lockstep_curl_write = { bytes, size, count, context in
  guard let context else { return 0 }
  Unmanaged<IncomingResponse>.fromOpaque(context).takeUnretainedValue()
    .takeHeader(UnsafeRawBufferPointer(start: bytes, count: size * count))
  return size * count
}

let takeBody: lockstep_curl_write = { bytes, size, count, context in
  guard let context else { return 0 }
  return Unmanaged<IncomingResponse>.fromOpaque(context).takeUnretainedValue()
    .takeBody(UnsafeRawBufferPointer(start: bytes, count: size * count))
}

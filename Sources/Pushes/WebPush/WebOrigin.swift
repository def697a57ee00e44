import Foundation

/// Where the web app lives, `https://app.example`: makes links absolute.
package struct WebOrigin: Hashable, Sendable {
  /// Without a slash at the end.
  package let text: String

  /// - Throws: ``WebOriginError`` unless it is `https://host[:port]`, or `http` with `localhost`.
  package init(_ text: String) throws(WebOriginError) {
    let trimmed = text.hasSuffix("/") ? String(text.dropLast()) : text
    guard let url = URL(string: trimmed), let host = url.host, !host.isEmpty,
      url.path.isEmpty, url.query == nil, url.fragment == nil, url.user == nil,
      url.scheme == "https" || (url.scheme == "http" && ["localhost", "127.0.0.1"].contains(host))
    else { throw WebOriginError() }
    self.text = trimmed
  }

  /// The absolute URL of a path that begins with a slash.
  package func url(of path: String) -> String { text + path }
}

package struct WebOriginError: Error, Hashable, CustomStringConvertible {
  package var description: String {
    "want https://host or https://host:port without a path; http only with localhost"
  }
}

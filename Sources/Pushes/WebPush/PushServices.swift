/// The push services that we send to: everything else is refused, at registration and again before
/// sending, so that nobody can make this server call a host of their choice.
package struct PushServices: Hashable, Sendable {
  private struct Entry: Hashable {
    /// Without the `*`; begins with a dot then.
    let name: String
    let isWildcard: Bool
    /// Given: exactly this port, and the address rule is lifted too.
    let port: Int?

    func matches(_ endpoint: PushEndpoint) -> Bool {
      let isHost = isWildcard ? endpoint.host.hasSuffix(name) : endpoint.host == name
      return isHost && endpoint.port == port ?? 443
    }
  }

  private let entries: [Entry]

  /// The services of today's browsers.
  package static let browsers = PushServices(entries: [
    Entry(name: "fcm.googleapis.com", isWildcard: false, port: nil),
    Entry(name: "updates.push.services.mozilla.com", isWildcard: false, port: nil),
    Entry(name: ".push.services.mozilla.com", isWildcard: true, port: nil),
    Entry(name: "web.push.apple.com", isWildcard: false, port: nil),
    Entry(name: ".push.apple.com", isWildcard: true, port: nil),
    Entry(name: ".notify.windows.com", isWildcard: true, port: nil),
  ])

  private init(entries: [Entry]) { self.entries = entries }

  /// Reads `host, *.host, host:port`. An entry with a port also lifts the address rule, for exactly
  /// that host and port: for tests.
  ///
  /// - Throws: ``PushServicesError`` naming the entry that is wrong.
  package init(list: String) throws(PushServicesError) {
    var entries: [Entry] = []
    for part in list.split(separator: ",") {
      let text = part.trimming { $0 == " " }
      guard !text.isEmpty else { continue }
      let isWildcard = text.hasPrefix("*.")
      let name = isWildcard ? String(text.dropFirst(2)) : text
      let hasPort = name.contains(":")
      guard !name.contains(where: "/?".contains),
        let endpoint = try? PushEndpoint("https://\(name)/"),  // Its words fit no list.
        hasPort ? !isWildcard : endpoint.host.contains(".") && !endpoint.isAddress
      else { throw PushServicesError(entry: text) }
      entries.append(
        Entry(
          name: (isWildcard ? "." : "") + endpoint.host, isWildcard: isWildcard,
          port: hasPort ? endpoint.port : nil))
    }
    guard !entries.isEmpty else { throw PushServicesError(entry: list) }
    self.entries = entries
  }

  /// - Throws: ``PushEndpointError`` when we do not send there.
  package func check(_ endpoint: PushEndpoint) throws(PushEndpointError) {
    if liftsAddressRule(for: endpoint) { return }
    guard !endpoint.isAddress else { throw .address }
    guard endpoint.port == 443 else { throw .port(endpoint.port) }
    guard entries.contains(where: { $0.matches(endpoint) }) else {
      throw .unknownHost(endpoint.host)
    }
  }

  /// Whether this endpoint may lead to an address that is not public.
  package func liftsAddressRule(for endpoint: PushEndpoint) -> Bool {
    entries.contains { $0.port != nil && $0.matches(endpoint) }
  }
}

extension Substring {
  fileprivate func trimming(_ isSpace: (Character) -> Bool) -> String {
    var rest = drop(while: isSpace)
    while let last = rest.last, isSpace(last) { rest.removeLast() }
    return String(rest)
  }
}

package struct PushServicesError: Error, Hashable, CustomStringConvertible {
  package let entry: String
  package var description: String {
    "\"\(entry)\" is no host, *.host or host:port; want a comma-separated list of them"
  }
}

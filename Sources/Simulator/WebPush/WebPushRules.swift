import Foundation
import Vocabulary

/// Checks a request as push services do: each rule as its strictest service has it.
///
/// Pure. What no service can see, because it is encrypted, is not refused here; the browser
/// complains of it.
/// Source: RFC 8030; research/push-systems.md 4.1, 4.2 and 4.4.
package struct WebPushRules: Hashable, Sendable {
  /// The largest body that passes.
  package static let bodyBytesMax = 4096
  /// The longest `Topic`, in characters.
  package static let topicMax = 32
  /// What `TTL` is cut to, 30 days in seconds.
  package static let ttlMax: Int64 = 2_592_000
  private static let urgencies: Set<String> = ["very-low", "low", "normal", "high"]
  private static let onlyOnce = [
    "ttl", "urgency", "topic", "content-encoding", "authorization", "content-length",
  ]

  /// What `aud` of a token must be, `https://localhost:9443`.
  package let origin: String

  package init(origin: String) { self.origin = origin }

  /// `vapidKey`: the public key that the subscription was made with, base64url.
  ///
  /// - Throws: the refusal that a service would answer.
  package func accept(_ request: WebPushRequest, vapidKey: String, at now: UnixTime)
    throws(WebPushRefusal) -> AcceptedWebPush
  {
    guard request.method == "POST" else { throw .methodNotAllowed }
    for name in Self.onlyOnce where request.values(name).count > 1 { throw .duplicated(name) }
    try VAPIDRules(origin: origin).check(
      request.value("authorization"), vapidKey: vapidKey, at: now)
    let ttl = try ttl(request.value("ttl"))
    let urgency = request.value("urgency") ?? "normal"
    guard Self.urgencies.contains(urgency) else { throw .badUrgency(urgency) }
    let topic = try topic(request.value("topic"))
    guard request.body.count <= Self.bodyBytesMax else {
      throw .tooLarge(bytes: request.body.count)
    }
    guard !request.body.isEmpty else { throw .badEncoding("the body is empty") }
    guard request.value("content-encoding") == "aes128gcm" else {
      let given = request.value("content-encoding") ?? "absent"
      throw .badEncoding("Content-Encoding is \(given.prefix(40)), want exactly aes128gcm")
    }
    return AcceptedWebPush(
      ttl: min(ttl, Self.ttlMax), urgency: urgency, topic: topic, body: request.body,
      arrivedAt: now)
  }

  private func ttl(_ given: String?) throws(WebPushRefusal) -> Int64 {
    guard let given, !given.isEmpty, given.utf8.allSatisfy({ (48...57).contains($0) }),
      let seconds = Int64(given)
    else { throw .badTTL(given) }
    return seconds
  }

  private func topic(_ given: String?) throws(WebPushRefusal) -> String? {
    guard let given else { return nil }
    let length = given.utf8.count
    guard (1...Self.topicMax).contains(length) else {
      throw .badTopic("Topic has \(length) characters, want 1 to \(Self.topicMax)")
    }
    guard given.utf8.allSatisfy(\.isBase64URLDigit) else {
      throw .badTopic("Topic is not of the alphabet of base64url")
    }
    // Apple decodes it.
    guard length % 4 != 1 else {
      throw .badTopic("Topic has \(length) characters, which no bytes give in base64")
    }
    return given
  }
}

extension UInt8 {
  fileprivate var isBase64URLDigit: Bool {
    (48...57).contains(self) || (65...90).contains(self) || (97...122).contains(self)
      || self == UInt8(ascii: "-") || self == UInt8(ascii: "_")
  }
}

/// One request as it came to the stand-in for a push service.
package struct WebPushRequest: Hashable, Sendable {
  package typealias Header = APNsRequest.Header

  package let method: String
  package let path: String
  /// In the order they came, without pseudo-headers; a name may stand twice.
  package let headers: [Header]
  package let body: [UInt8]

  package init(method: String = "POST", path: String, headers: [Header], body: [UInt8]) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
  }

  /// The first value of a header; nil when it is absent.
  func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }
  func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

  /// The last part of the path: the subscription when it is one.
  var subscription: String? {
    let prefix = "/push/"
    guard path.hasPrefix(prefix) else { return nil }
    return String(path.dropFirst(prefix.count))
  }
}

/// A push that the service answered with 201: it will try to deliver it.
package struct AcceptedWebPush: Hashable, Sendable {
  /// How long it is kept, in seconds.
  package let ttl: Int64
  package let urgency: String
  package let topic: String?
  /// Encrypted.
  package let body: [UInt8]
  package let arrivedAt: UnixTime

  /// Whether the service still keeps it at that moment.
  package func isKept(at now: UnixTime) -> Bool { now < arrivedAt + .seconds(ttl) }
}

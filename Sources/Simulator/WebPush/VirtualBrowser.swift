import Cryptography
import Foundation
import Vocabulary

/// Whose browser it is, and its one subscription. Never changes.
package struct BrowserIdentity: Sendable {
  /// Names the browser in the control API.
  package let id: String
  package let userID: UserID
  package let name: String
  /// The last part of the endpoint.
  package let subscription: String
  /// The public key of the server that subscribed it, base64url.
  package let vapidKey: String
  let key: AgreementKey
  let auth: [UInt8]

  package init(
    id: String, userID: UserID, name: String, vapidKey: String, mint: inout TokenMint
  ) {
    self.id = id
    self.userID = userID
    self.name = name
    self.vapidKey = vapidKey
    subscription = mint.hex(digits: 48)
    key = .generate()
    auth = RandomBytes.make(16)
  }

  /// What `PushSubscription.toJSON()` would give.
  package func subscriptionJSON(origin: String) -> JSONValue {
    [
      "endpoint": .string("\(origin)/push/\(subscription)"), "expirationTime": nil,
      "keys": [
        "p256dh": .string(Base64URL.encode(key.publicKey)),
        "auth": .string(Base64URL.encode(auth)),
      ],
    ]
  }
}

/// A browser that takes Web Push, with what its push service keeps for it.
///
/// A value: things happen to it, and it says what it found wrong.
package struct VirtualBrowser: Sendable {
  /// How many pushes its service keeps while it is offline; the oldest go first.
  package static let heldMax = 100
  /// How many notifications it shows; the oldest go first.
  package static let shownMax = 20
  /// What every service takes; Windows refuses 0.
  package static let ttlMin: Int64 = 60

  package let identity: BrowserIdentity
  package private(set) var isOnline = true
  /// Not subscribed: its service answers 410.
  package private(set) var isSubscribed = true
  /// Oldest first; at most one of each topic.
  package private(set) var held: [AcceptedWebPush] = []
  /// Newest first.
  package private(set) var shown: [WebNotification] = []
  package private(set) var counts = BrowserCounts()
  /// What its bell shows; nil before the first look.
  package var inbox: Inbox?

  package init(_ identity: BrowserIdentity) { self.identity = identity }

  /// A push that its service has taken.
  ///
  /// - Returns: what is wrong with it.
  package mutating func receive(_ push: AcceptedWebPush) -> [Finding] {
    guard isOnline else {
      hold(push)
      return []
    }
    return show(push, at: push.arrivedAt)
  }

  private mutating func hold(_ push: AcceptedWebPush) {
    guard push.ttl > 0 else {
      counts.expired += 1
      return
    }
    if let topic = push.topic, held.contains(where: { $0.topic == topic }) {
      held.removeAll { $0.topic == topic }
      counts.replaced += 1
    }
    held.append(push)
    held.removeFirst(max(0, held.count - Self.heldMax))
  }

  private mutating func show(_ push: AcceptedWebPush, at now: UnixTime) -> [Finding] {
    counts.received += 1
    let plaintext = WebPushEncryption.plaintext(
      of: push.body, receiver: identity.key, auth: identity.auth)
    guard let plaintext else {
      counts.dropped += 1
      return [Finding(.webPushBody, "the body does not decrypt with the subscription's keys")]
    }
    let content: DeclarativePush
    do {
      content = try DeclarativePush(reading: plaintext)
    } catch {
      counts.dropped += 1
      return [error.finding]
    }
    let key = content.tag ?? content.dedupeKey ?? "\(counts.received)"
    if shown.contains(where: { $0.key == key }) { counts.repeated += 1 }
    shown.removeAll { $0.key == key }
    shown.insert(
      WebNotification(
        key: key, content: content, topic: push.topic, urgency: push.urgency, ttl: push.ttl,
        shownAt: now), at: 0)
    shown.removeLast(max(0, shown.count - Self.shownMax))
    return findings(push, content)
  }

  private func findings(_ push: AcceptedWebPush, _ content: DeclarativePush) -> [Finding] {
    var found: [Finding] = []
    if push.ttl < Self.ttlMin {
      found.append(Finding(.webPushTTL, "TTL is \(push.ttl), want at least \(Self.ttlMin)"))
    }
    if let key = content.dedupeKey {
      let wanted = Base64URL.encode(Digest.sha256(key).bytes.prefix(24))
      if push.topic != wanted {
        found.append(
          Finding(.webPushTopic, "Topic is \(push.topic ?? "absent"), want \(wanted) of \(key)"))
      }
      if content.tag != key {
        found.append(Finding(.declarative, "tag is \(content.tag ?? "absent"), want \(key)"))
      }
    }
    return found
  }
}

// MARK: What its owner does

extension VirtualBrowser {
  package mutating func goOffline() { isOnline = false }

  /// Delivers what its service kept, unless it has expired.
  package mutating func goOnline(at now: UnixTime) -> [Finding] {
    isOnline = true
    let kept = held
    held = []
    return kept.flatMap { push in
      guard push.isKept(at: now) else {
        counts.expired += 1
        return [Finding]()
      }
      return show(push, at: now)
    }
  }

  /// From now on its service answers 410. The page tells nobody.
  package mutating func unsubscribe() {
    isSubscribed = false
    held = []
  }
}

/// A notification that a browser shows.
package struct WebNotification: Hashable, Sendable {
  /// The tag: a newer one takes its place.
  package let key: String
  package let content: DeclarativePush
  package let topic: String?
  package let urgency: String
  package let ttl: Int64
  package let shownAt: UnixTime
}

/// What a browser counts of its pushes.
package struct BrowserCounts: Hashable, Sendable, Codable {
  /// Arrived while online.
  package var received = 0
  /// Could not be decrypted or read.
  package var dropped = 0
  /// Came for a tag that is shown already.
  package var repeated = 0
  /// Lost at the service because a newer one has the same topic.
  package var replaced = 0
  /// Lost at the service because they expired while the browser was offline.
  package var expired = 0
}

import HTTPServing
import Pipeline
import Pushes
import Vocabulary

extension API {
  private static let subscriptionsPath = "/api/webpush/subscriptions"
  /// How many browsers one user may have: what one event can cause stays bounded.
  private static let subscriptionsMax = 100

  static let webPushRoutes: [Route] = [
    Route(.get, "/api/webpush/public-key") { api, _ in
      let offer = try api.webPushOffer()
      return { _ in Answer(.json(200, ["public_key": offer.publicKey])) }
    },
    Route(.post, subscriptionsPath) { try $0.subscribe($1) },
    Route(.delete, subscriptionsPath) { try $0.unsubscribe($1) },
  ]

  private func webPushOffer() throws(Problem) -> WebPushOffer {
    guard let offer = settings.webPush else {
      throw Problem(
        status: 404, name: "web-push-off", title: "Web Push is not configured",
        detail: "This server has no VAPID key, so it sends no Web Push.")
    }
    return offer
  }

  /// Keeps what the browser's `PushSubscription.toJSON()` says.
  private func subscribe(_ call: Call) throws -> Work {
    let offer = try webPushOffer()
    var body = try call.body()
    let endpoint = body.endpoint()
    // Browsers say when it ends, if ever; the push service's 410 says it better.
    body.passOver("expirationTime")
    let keys = body.webPushKeys()
    if let endpoint {
      do {
        try offer.services.check(endpoint)
      } catch {
        body.refuse("endpoint", "\(error)")
      }
    }
    try body.finish()
    guard let endpoint, let keys else {
      preconditionFailure("a field that is nil was refused")
    }
    let subscription = WebPushSubscription(
      userID: call.caller.userID, endpoint: endpoint, keys: keys, vapidKeyID: offer.publicKey,
      createdAt: call.now)
    return { rows in try store(subscription, rows) }
  }

  private func store(_ subscription: WebPushSubscription, _ rows: any StoreTransaction) throws
    -> Answer
  {
    let user = subscription.userID
    let present = try rows.subscriptions(of: [user])[user] ?? []
    guard
      present.count < Self.subscriptionsMax
        || present.contains(where: { $0.endpoint == subscription.endpoint })
    else {
      throw Problem(
        status: 429, name: "too-many-subscriptions", title: "Too many subscriptions",
        detail: "You have \(present.count) subscriptions, at most \(Self.subscriptionsMax) are"
          + " allowed; unsubscribe one.")
    }
    let saved = try rows.save(subscription)
    // The push service refuses our key for it: only a new subscription mends that.
    return Answer(
      .json(
        200,
        saved.resubscribeSince == nil
          ? ["registered": true] : ["registered": true, "resubscribe": true]))
  }

  private func unsubscribe(_ call: Call) throws -> Work {
    _ = try webPushOffer()
    var body = try call.body()
    let endpoint = body.endpoint()
    // A page may send the same JSON as to subscribe.
    body.passOver("expirationTime")
    body.passOver("keys")
    try body.finish()
    return { rows in
      let count = try endpoint.map { try rows.unsubscribe($0, of: call.caller.userID) } ?? 0
      return Answer(.json(200, ["unregistered": count]))
    }
  }
}

extension BodyReader {
  /// Nil after a problem. An endpoint is never quoted: whoever knows it may flood that browser.
  fileprivate mutating func endpoint() -> PushEndpoint? {
    let text = text("endpoint", max: PushEndpoint.bytesMax)
    guard !text.isEmpty else { return nil }
    do {
      return try PushEndpoint(text)
    } catch {
      refuse("endpoint", "\(error)")
      return nil
    }
  }

  /// Of 65 octets in base64url, padded or not.
  private static let keyMax = 128

  /// Nil after a problem.
  fileprivate mutating func webPushKeys() -> WebPushKeys? {
    guard var keys = object("keys") else { return nil }
    let p256dh = keys.key("p256dh", WebPushKeys.point)
    let auth = keys.key("auth", WebPushKeys.secret)
    adopt(keys)
    guard let p256dh, let auth else { return nil }
    do {
      return try WebPushKeys(p256dh: p256dh, auth: auth)
    } catch {
      refuse("keys", "\(error)")
      return nil
    }
  }

  /// The octets of one of the browser's keys; nil after a problem.
  private mutating func key(
    _ name: String, _ read: (String) throws(WebPushKeysError) -> [UInt8]
  ) -> [UInt8]? {
    let text = text(name, max: Self.keyMax)
    guard !text.isEmpty else { return nil }
    do {
      // Some browsers' libraries pad.
      return try read(String(text.prefix { $0 != "=" }))
    } catch {
      refuse(name, "\(error)")
      return nil
    }
  }
}

import Pushes
import Vocabulary

/// What is known at the moment before a Web Push goes out.
struct WebPushKnowledge {
  var subscriptions: [SubscriptionID: WebPushSubscription] = [:]
  /// Dedupe keys of notifications that were resolved.
  var resolved: Set<String> = []
  /// Ids of jobs that a push service took already.
  var accepted: Set<String> = []
}

/// The last look before a Web Push goes out. Pure.
enum WebPushDecision {
  case send(WebPushSubscription, key: VAPIDKey)
  case drop(Disposition)

  init(
    _ job: WebPushJob, knowing known: WebPushKnowledge, services: PushServices, keys: VAPIDKeys,
    now: UnixTime
  ) {
    guard job.deadline > now else {
      self = .drop(.expired)
      return
    }
    if known.resolved.contains(job.dedupeKey) {
      self = .drop(.superseded(because: "the notification is resolved"))
      return
    }
    if known.accepted.contains(job.id) {
      self = .drop(.superseded(because: "delivered already"))
      return
    }
    // Another user may have taken the browser over since.
    guard let subscription = known.subscriptions[job.subscriptionID],
      subscription.userID == job.userID
    else {
      self = .drop(.superseded(because: "the subscription is gone"))
      return
    }
    do {
      try services.check(subscription.endpoint)
    } catch {
      self = .drop(.dead(because: "the endpoint \(error)"))
      return
    }
    guard let key = keys[id: subscription.vapidKeyID] else {
      let id = subscription.vapidKeyID.prefix(12)
      self = .drop(.dead(because: "the key file does not hold the VAPID key \(id)… any more"))
      return
    }
    self = .send(subscription, key: key)
  }
}

extension WebPushJob {
  /// What every push service takes: Windows refuses 0, and less than a minute reaches nobody.
  private static let ttlMin: Int64 = 60

  /// The header `TTL` for a push sent `now`, in seconds.
  func ttl(now: UnixTime) -> Int64 { max(Self.ttlMin, (deadline - now).components.seconds) }
}

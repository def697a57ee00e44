import Pushes
import ServiceRuntime
import Sessions
import Vocabulary

/// Stage `notify`: tells users what events mean for them. One record in the inbox, an alert push to
/// each device, a Web Push to each browser; and all of it taken back once it is over.
///
/// The record is unique on (user, dedupe key) and the jobs' ids are made of the dedupe key and
/// where they go, so an event that comes ten times, or to ten notifiers at once, tells once.
///
/// A device that registers its token only after the event gets no alert for it: its user has the
/// phone in hand, and the bell shows the record.
package final class Notifier: Stage {
  package let name = StageName.notify
  package let isRepeatable = true

  private let store: any Store
  private let pushes: StageRoute
  private let webPush: WebPushOutlet?
  private let types: [NotificationType]
  private let time: any TimeSource
  private let metrics: NotificationMetrics

  /// `pushes`: where jobs for APNs go. `webPush`: nil tells no browser.
  package init(
    store: any Store, pushes: StageRoute, webPush: WebPushOutlet? = nil,
    types: [NotificationType] = NotificationType.all,
    time: any TimeSource, metrics: NotificationMetrics
  ) {
    self.store = store
    self.pushes = pushes
    self.webPush = webPush
    self.types = types
    self.time = time
    self.metrics = metrics
  }

  package func take(_ deliveries: [Delivery]) throws -> [Settlement] {
    var settlements: [Settlement] = []
    var events: [(delivery: Delivery, event: Event)] = []
    for delivery in deliveries {
      do {
        events.append((delivery, try Event(reading: delivery.message)))
      } catch {
        settlements.append(Settlement(delivery, .dead(because: "\(error)")))
      }
    }
    guard !events.isEmpty else { return settlements }
    let now = time.now()
    let (settled, tally) = try store.write { transaction in
      var tally = Tally()
      let settled = try events.map { delivery, event in
        do {
          let outgoing = try self.types.flatMap {
            try self.notify($0, event, &tally, in: transaction, now: now)
          }
          return Settlement(delivery, .done, outgoing: outgoing)
        } catch let error as PayloadTooLarge {
          return Settlement(delivery, .dead(because: "\(error)"))
        }
      }
      return (settled, tally)
    }
    metrics.add(tally)
    return settlements + settled
  }

  /// What a batch did, counted once it is stored.
  struct Tally {
    var inserted = 0
    var resolved = 0
    var alertsQueued = 0
    var webPushesQueued = 0
    var alertsTakenBack = 0
  }

  /// - Returns: the jobs that go out because of it.
  private func notify(
    _ type: NotificationType, _ event: Event, _ tally: inout Tally,
    in transaction: any StoreTransaction, now: UnixTime
  ) throws -> [OutgoingMessage] {
    let notices = type.notices(event)
    guard !notices.isEmpty else { return [] }
    let profiles = try transaction.profiles(of: notices.map(\.userID))
    var outgoing: [OutgoingMessage] = []
    for notice in notices {
      let language = Language(locale: profiles[notice.userID]?.locale)
      // What ended before its beginning was heard of is recorded as ended all the same.
      let isNew = try transaction.insert(notice.record(type, in: language, now: now))
      if isNew { tally.inserted += 1 }
      switch notice.standing {
      case .open(alerts: false): break
      case .open(alerts: true):
        guard notice.expiresAt > now else { break }
        let isOver = try !isNew && !transaction.resolvedKeys(among: [notice.dedupeKey]).isEmpty
        guard !isOver else { break }
        outgoing += try tell(notice, in: language, because: event, &tally, in: transaction)
      case .resolved(let reason):
        let resolved = try transaction.resolve(
          dedupeKey: notice.dedupeKey, because: reason, at: now)
        tally.resolved += resolved.count
        outgoing += try takeBack(notice, because: event, &tally, in: transaction)
      }
    }
    return outgoing
  }

  private func tell(
    _ notice: Notice, in language: Language, because event: Event, _ tally: inout Tally,
    in transaction: any StoreTransaction
  ) throws -> [OutgoingMessage] {
    let devices = try alertTokens(of: notice.userID, in: transaction)
    var jobs = try devices.map {
      pushes.carrying(try notice.alert(to: $0, in: language, because: event).message)
    }
    tally.alertsQueued += jobs.count
    guard let webPush else { return jobs }
    let user = notice.userID
    let browsers = try transaction.subscriptions(of: [user])[user] ?? []
    guard !browsers.isEmpty else { return jobs }
    let payload = try notice.webPushPayload(in: language).encoded(origin: webPush.origin)
    jobs += browsers.map {
      webPush.route.carrying(notice.webPush(payload, to: $0, because: event).message)
    }
    tally.webPushesQueued += browsers.count
    return jobs
  }

  /// A silent push to each device that got the alert, or may have got it. One whose alert is under
  /// way at this moment is left to the sender: it learns of the end when it records the answer.
  private func takeBack(
    _ notice: Notice, because event: Event, _ tally: inout Tally,
    in transaction: any StoreTransaction
  ) throws -> [OutgoingMessage] {
    let devices = try alertTokens(of: notice.userID, in: transaction)
    guard !devices.isEmpty else { return [] }
    let ids = devices.map { PushJob.alertID(notice.dedupeKey, to: $0.token) }
    let arrived = try transaction.acceptedJobs(among: ids)
      .union(transaction.unansweredJobs(among: ids))
    let meant = zip(ids, devices).filter { arrived.contains($0.0) }.map(\.1)
    tally.alertsTakenBack += meant.count
    return try meant.map {
      let job = try PushJob.resolve(
        notice.dedupeKey, of: notice.sessionID, rev: notice.rev, on: $0, causedAt: event.time,
        traceparent: event.traceparent)
      return pushes.carrying(job.message)
    }
  }

  private func alertTokens(of user: UserID, in transaction: any StoreTransaction) throws
    -> [Registration]
  {
    try transaction.tokens(of: [user], kind: .alert)[user] ?? []
  }
}

/// Where Web Push jobs go, and what makes their links absolute.
package struct WebPushOutlet: Hashable, Sendable {
  package let route: StageRoute
  package let origin: WebOrigin

  package init(route: StageRoute, origin: WebOrigin) {
    self.route = route
    self.origin = origin
  }
}

extension StageRoute {
  /// The message on its way to this stage.
  func carrying(_ message: Message) -> OutgoingMessage {
    OutgoingMessage(exchange: exchange, routingKey: routingKey, message: message)
  }
}

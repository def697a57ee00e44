import Cryptography
import Pushes
import ServiceRuntime
import Sessions
import Vocabulary

/// Stage `notify`: the invitation. An inbox record first, then an alert push to each of the invited
/// user's devices; resolved when the session ends.
///
/// The record is unique on (user, dedupe key) and the alerts' ids are made of the dedupe key and
/// the token, so an event that comes twice invites once.
package final class Notifier: Stage {
  package let name = StageName.notify

  private let store: any Store
  private let pushes: StageRoute
  private let time: any TimeSource
  private let metrics: NotificationMetrics

  /// `pushes`: where jobs for the sender go.
  package init(
    store: any Store, pushes: StageRoute, time: any TimeSource, metrics: NotificationMetrics
  ) {
    self.store = store
    self.pushes = pushes
    self.time = time
    self.metrics = metrics
  }

  package func take(_ deliveries: [Delivery]) throws -> [Settlement] {
    var settlements: [Settlement] = []
    var events: [(delivery: Delivery, event: Event, session: Session)] = []
    for delivery in deliveries {
      do {
        let event = try Event(reading: delivery.message)
        if case .session(let session, _) = event.subject {
          events.append((delivery, event, session))
        } else {
          settlements.append(Settlement(delivery, .done))
        }
      } catch {
        settlements.append(Settlement(delivery, .dead(because: "\(error)")))
      }
    }
    guard !events.isEmpty else { return settlements }
    let now = time.now()
    return try settlements
      + store.write { transaction in
        try events.map { delivery, event, session in
          do {
            let jobs = try notify(event, session, in: transaction, now: now)
            return Settlement(
              delivery, .done,
              outgoing: jobs.map {
                OutgoingMessage(
                  exchange: pushes.exchange, routingKey: pushes.routingKey, message: $0.message)
              })
          } catch let error as PayloadTooLarge {
            return Settlement(delivery, .dead(because: "\(error)"))
          }
        }
      }
  }

  private func notify(
    _ event: Event, _ session: Session, in transaction: any StoreTransaction, now: UnixTime
  ) throws -> [PushJob] {
    guard !session.isSolo else { return [] }
    let invited = session.invited.map(\.userID)
    let profiles = try transaction.profiles(of: invited)
    var jobs: [PushJob] = []
    for user in invited {
      let invitation = session.invitation(language: Language(locale: profiles[user]?.locale))
      let record = record(of: invitation, for: user, of: session, now: now)
      if try transaction.insert(record) { metrics.inserted.add() }
      guard event.type == SessionEventType.created.typeName else { continue }
      let tokens = try transaction.tokens(of: [user], kind: .alert)[user] ?? []
      jobs += try tokens.map { try alert(invitation, to: $0, of: session, event: event) }
    }
    // A session that ended before its creation was heard of is recorded as ended all the same.
    if session.state.isFinal {
      let resolved = try transaction.resolve(
        dedupeKey: session.invitationDedupeKey,
        because: session.endReason?.rawValue ?? session.state.rawValue, at: now)
      metrics.resolved.add(resolved.count)
      return []
    }
    return jobs
  }

  private func record(
    of invitation: Invitation, for user: UserID, of session: Session, now: UnixTime
  ) -> Notification {
    Notification(
      id: UUIDText.named(["notification", user.text, invitation.dedupeKey]), userID: user,
      type: "cooksuggest.invitation", title: invitation.title, body: invitation.body,
      icon: Invitation.icon, link: invitation.link, dedupeKey: invitation.dedupeKey,
      createdAt: now, updatedAt: now)
  }

  private func alert(
    _ invitation: Invitation, to registration: Registration, of session: Session, event: Event
  ) throws(PayloadTooLarge) -> PushJob {
    let payload = AlertPayload(
      title: invitation.title, body: invitation.body, link: invitation.link,
      dedupeKey: invitation.dedupeKey)
    return PushJob(
      id: UUIDText.named(["alert", invitation.dedupeKey, registration.token.hex]), event: .alert,
      sessionID: session.id, userID: registration.userID, contextKey: nil, rev: session.rev,
      token: registration.token, environment: registration.environment,
      bundleID: registration.bundleID, collapseID: CollapseID.of(invitation.dedupeKey),
      dedupeKey: invitation.dedupeKey, deadline: session.expiresAt, causedAt: event.time,
      traceparent: event.traceparent, payload: try payload.encoded())
  }
}

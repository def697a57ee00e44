import Pushes
import Vocabulary

/// What the store knows of one job at the moment before sending.
struct SendKnowledge {
  var standing = PushStanding()
  /// Of a start: the phone dismissed this card.
  var isDismissed = false
  /// Of a start: the update tokens that its activity has, on whichever device.
  var cards: [Registration] = []
  /// Of a start: what became of it so far; nil when nobody asked for it.
  var start: Start?
  /// Of a start: whether the phone got this card under another push-to-start token.
  var earlierStart: EarlierStart?
  /// Of an alert: its notification was resolved.
  var isResolved = false
  /// Of an alert, or what takes one back: APNs accepted it already.
  var isAccepted = false
  /// Of an alert: APNs accepted what takes it back.
  var isTakenBack = false
  /// Of an alert: it was sent and not answered.
  var isUnanswered = false
}

extension SendKnowledge {
  /// Of a start: the device that it goes to has registered a card of the same activity, or has one
  /// that listens to a channel. An earlier start arrived, though nobody heard the answer or it went
  /// to another token, or the app began it itself.
  var hasCard: Bool {
    let devices = standing.registrations.compactMap(\.deviceID)
    return earlierStart == .listens
      || cards.contains { $0.deviceID.map(devices.contains) ?? false }
  }
}

/// The last look before a push goes out: is there still a reason to send it, and is it still the
/// newest? Pure.
enum SendDecision: Hashable {
  case send(Registration)
  case drop(Disposition)

  /// The wait when another sender is about to send the same start.
  private static let startHeldWait: Duration = .seconds(5)

  init(_ job: PushJob, knowing known: SendKnowledge, now: UnixTime) {
    guard job.deadline > now else {
      self = .drop(.expired)
      return
    }
    guard let registration = known.standing.registrations.first(where: job.isMeant) else {
      self = .drop(.superseded(because: "the token is gone from the registry"))
      return
    }
    let refusal =
      switch job.event {
      case .alert: Self.alertRefusal(known)
      case .resolve: Self.acceptedRefusal(known)
      case .start: Self.startRefusal(job, known, now)
      case .update, .end: Self.updateRefusal(job, known)
      }
    self = refusal.map(SendDecision.drop) ?? .send(registration)
  }

  private static func alertRefusal(_ known: SendKnowledge) -> Disposition? {
    if known.isResolved {
      return .superseded(because: "the notification is resolved")
    }
    return acceptedRefusal(known)
  }

  private static func acceptedRefusal(_ known: SendKnowledge) -> Disposition? {
    known.isAccepted ? .superseded(because: "delivered already") : nil
  }

  private static func updateRefusal(_ job: PushJob, _ known: SendKnowledge) -> Disposition? {
    if let refusal = newerRefusal(job, known) { return refusal }
    if let delivered = known.standing.deliveredRev, delivered >= job.rev {
      return .superseded(because: "rev \(delivered) was delivered already")
    }
    return nil
  }

  private static func startRefusal(_ job: PushJob, _ known: SendKnowledge, _ now: UnixTime)
    -> Disposition?
  {
    if known.isDismissed {
      return .superseded(because: "the phone dismissed this card")
    }
    if known.start?.acceptedAt != nil { return .superseded(because: "started already") }
    if known.hasCard { return .superseded(because: "the phone has this card") }
    switch known.earlierStart {
    case .unbound?:
      return .superseded(because: "an unbound update token of the phone may be this card's")
    case .unheard(let until)?:
      return .retry(
        notBefore: until - now, because: "the token before was sent this card a moment ago")
    case .listens?, nil: break
    }
    if let until = known.start?.claimedUntil, APNsSender.startHold.isOn(until: until, now: now) {
      return .retry(notBefore: startHeldWait, because: "another sender holds this start")
    }
    return newerRefusal(job, known)
  }

  /// A job for the newer state exists: the same builder made it in the same transaction.
  private static func newerRefusal(_ job: PushJob, _ known: SendKnowledge) -> Disposition? {
    guard let newest = known.standing.newestRev, newest > job.rev else { return nil }
    return .superseded(because: "rev \(newest) is newer than \(job.rev)")
  }
}

extension PushJob {
  /// Whether this row of the registry is the one the job was made for.
  func isMeant(for registration: Registration) -> Bool {
    guard registration.userID == userID else { return false }
    return switch event {
    case .alert, .resolve: registration.kind == .alert
    case .start: registration.kind == .pushToStart
    case .update, .end: registration.kind == .update && registration.contextKey == contextKey
    }
  }
}

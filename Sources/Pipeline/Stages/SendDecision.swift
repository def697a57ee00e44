import Pushes
import Vocabulary

/// What the store knows at the moment before sending.
struct SendKnowledge {
  /// The rev of the newest state of each context.
  var newestRevs: [ContextKey: Int] = [:]
  var deliveredRevs: [PushToken: Int] = [:]
  var registrations: [PushToken: [Registration]] = [:]
  var dismissed: Set<ContextKey> = []
  var starts: [String: Start] = [:]
  /// Dedupe keys of notifications that were resolved.
  var resolved: Set<String> = []
  /// Ids of alerts, and of what takes them back, that APNs accepted already.
  var accepted: Set<String> = []
  /// Ids of alerts that were sent and not answered.
  var unanswered: Set<String> = []
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
    guard let registration = known.registrations[job.token]?.first(where: job.isMeant) else {
      self = .drop(.superseded(because: "the token is gone from the registry"))
      return
    }
    let refusal =
      switch job.event {
      case .alert: Self.alertRefusal(job, known)
      case .resolve: Self.acceptedRefusal(job, known)
      case .start: Self.startRefusal(job, known, now)
      case .update, .end: Self.updateRefusal(job, known)
      }
    self = refusal.map(SendDecision.drop) ?? .send(registration)
  }

  private static func alertRefusal(_ job: PushJob, _ known: SendKnowledge) -> Disposition? {
    if let key = job.dedupeKey, known.resolved.contains(key) {
      return .superseded(because: "the notification is resolved")
    }
    return acceptedRefusal(job, known)
  }

  private static func acceptedRefusal(_ job: PushJob, _ known: SendKnowledge) -> Disposition? {
    known.accepted.contains(job.id) ? .superseded(because: "delivered already") : nil
  }

  private static func updateRefusal(_ job: PushJob, _ known: SendKnowledge) -> Disposition? {
    if let refusal = newerRefusal(job, known) { return refusal }
    if let delivered = known.deliveredRevs[job.token], delivered >= job.rev {
      return .superseded(because: "rev \(delivered) was delivered already")
    }
    return nil
  }

  private static func startRefusal(_ job: PushJob, _ known: SendKnowledge, _ now: UnixTime)
    -> Disposition?
  {
    if let context = job.contextKey, known.dismissed.contains(context) {
      return .superseded(because: "the phone dismissed this card")
    }
    if let start = known.starts[job.id] {
      if start.acceptedAt != nil { return .superseded(because: "started already") }
      // One that ends later than any lease was taken before the clock was set back.
      if let until = start.claimedUntil, until > now, until - now <= APNsSender.startLease {
        return .retry(notBefore: startHeldWait, because: "another sender holds this start")
      }
    }
    return newerRefusal(job, known)
  }

  /// A job for the newer state exists: the same builder made it in the same transaction.
  private static func newerRefusal(_ job: PushJob, _ known: SendKnowledge) -> Disposition? {
    guard let context = job.contextKey, let newest = known.newestRevs[context] else { return nil }
    guard newest > job.rev else { return nil }
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

import Pushes
import Vocabulary

/// What is known at the moment before an FCM message goes out.
struct FCMKnowledge {
  var registrations: [FCMToken: FCMRegistration] = [:]
  /// The newest rev of each card.
  var newest: [ContextKey: Int] = [:]
  /// Cards that somebody swiped away, on whichever of a user's phones.
  var dismissed: Set<ContextKey> = []
  /// The newest rev that FCM has taken, of each card for each token.
  var delivered: [FCMPlace: Int] = [:]
}

/// One card on one phone: what goes there goes one after the other.
struct FCMPlace: Hashable {
  let context: ContextKey
  let token: FCMToken

  init(_ job: FCMJob) {
    context = job.contextKey
    token = job.token
  }
}

/// The last look before an FCM message goes out. Pure.
enum FCMDecision {
  case send
  case drop(Disposition)

  init(_ job: FCMJob, knowing known: FCMKnowledge, now: UnixTime) {
    guard job.deadline > now else {
      self = .drop(.expired)
      return
    }
    // Another user may have taken the phone over since.
    guard let phone = known.registrations[job.token], phone.userID == job.userID else {
      self = .drop(.superseded(because: "the phone's token is gone"))
      return
    }
    if let newest = known.newest[job.contextKey], newest > job.rev {
      self = .drop(.superseded(because: "rev \(newest) is known, this is \(job.rev)"))
      return
    }
    let delivered = known.delivered[FCMPlace(job)]
    if let delivered, delivered >= job.rev {
      self = .drop(.superseded(because: "rev \(delivered) is delivered"))
      return
    }
    // Swiped away on another phone since the job was made.
    if delivered == nil, job.event == .start, known.dismissed.contains(job.contextKey) {
      self = .drop(.superseded(because: "the user dismissed this card"))
      return
    }
    do {
      try job.checkSize()
      self = .send
    } catch {
      self = .drop(.dead(because: "\(error)"))
    }
  }
}

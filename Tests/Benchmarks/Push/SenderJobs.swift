import Foundation
import Pipeline
import Pushes
import RabbitMQBroker
import ServiceRuntime
import Vocabulary

/// The jobs that a sender finds: each an update to a token of its own, which the store knows.
struct SenderJobs {
  static let session = SessionID("cs_bench")
  private static let user = UserID("u_bench")
  /// Of one publish, confirmed together.
  private static let window = 1000

  private let place: SenderPlace
  private let payload: Data

  init(_ place: SenderPlace) throws {
    self.place = place
    payload = try Pushing.payload()
  }

  /// Registers the tokens, then puts the jobs into the queue.
  func put(_ pushes: Int) throws {
    let now = SystemTime().now()
    let publisher = RabbitMQPublisher(
      place.address, name: "bench-jobs", time: SystemTime(), log: .discarding)
    try publisher.open()
    for first in stride(from: 0, to: pushes, by: Self.window) {
      let numbers = first..<min(first + Self.window, pushes)
      let jobs = try numbers.map { try job($0, now: now) }
      try place.store.write { transaction in
        for job in jobs {
          try transaction.register(
            Registration(
              userID: Self.user, token: job.token, kind: .update, contextKey: job.contextKey,
              registeredAt: now, provenAt: now))
        }
        try transaction.save(jobs.compactMap(state))
      }
      let outcomes = try publisher.publish(
        jobs.map {
          OutgoingMessage(
            exchange: place.route.exchange, routingKey: place.route.routingKey,
            message: $0.message)
        })
      guard outcomes.allSatisfy({ $0 == .confirmed }) else {
        throw TransportBench.Refused(description: "the queue did not take all jobs")
      }
    }
    publisher.close()
  }

  /// The state that the job carries: the newest of its activity.
  private func state(of job: PushJob) -> ActivityState? {
    job.contextKey.map { context in
      ActivityState(
        contextKey: context, sessionID: Self.session, userID: Self.user, rev: job.rev,
        event: .update, contentState: payload, attributesType: "CookSuggestActivityAttributes",
        attributes: nil, alertTitle: nil, alertBody: nil, staleAt: job.deadline, dismissAt: nil,
        deadline: job.deadline, causedAt: job.causedAt, traceparent: nil)
    }
  }

  private func job(_ number: Int, now: UnixTime) throws -> PushJob {
    PushJob(
      id: Pushing.apnsID(number), event: .update, sessionID: Self.session, userID: Self.user,
      contextKey: ContextKey("cook:\(number):u_bench"), rev: 7, token: try Pushing.token(number),
      environment: .production,
      bundleID: nil, collapseID: nil, deadline: now + .seconds(3600), causedAt: now,
      traceparent: nil, payload: payload)
  }
}

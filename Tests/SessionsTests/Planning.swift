import Sessions
import Testing
import Vocabulary

let dennis = Profile(
  userID: UserID("u_dennis"), name: "Dennis", tint: "teal", emoji: "🦊", locale: "de-DE")
let jaqueline = Profile(
  userID: UserID("u_jaqueline"), name: "Jaqueline", tint: "coral", emoji: "🐠", locale: "en-GB")
let stranger = UserID("u_stranger")

let pasta = Proposal(id: ProposalID("p1"), title: "Pasta al limone")
let curry = Proposal(id: ProposalID("p2"), title: "Linsencurry")
let soup = Proposal(id: ProposalID("p3"), title: "Kürbissuppe")
let dishes = [pasta, curry, soup]

/// 2026-06-18T19:12:03.123Z
let start = UnixTime(milliseconds: 1_781_809_923_123)
let limits = SessionLimits()

/// One mutation with who does it; nil for the kitchen and the clock.
struct Step: Hashable, Sendable {
  let actor: UserID?
  let mutation: Mutation

  static func by(_ profile: Profile, _ mutation: Mutation) -> Step {
    Step(actor: profile.userID, mutation: mutation)
  }

  static func kitchen(_ mutation: Mutation) -> Step { Step(actor: nil, mutation: mutation) }
}

/// A session in the hands of a test. Each change starts job number rev+1, should it start one.
struct Planning {
  var session: Session
  var last: Change

  init(with partner: Profile? = jaqueline, at moment: UnixTime = start) throws {
    last = try Session.create(
      id: SessionID("cs_abc"), date: "2026-06-18", initiator: dennis, partner: partner, at: moment,
      limits: limits)
    session = last.session
  }

  /// Goes through all steps; each must change something.
  init(with partner: Profile? = jaqueline, through steps: [Step]) throws {
    try self.init(with: partner)
    for step in steps {
      try #require(try take(step) != nil, "\(step) changed nothing")
    }
  }

  @discardableResult
  mutating func take(_ step: Step, at moment: UnixTime = start) throws -> Change? {
    let change = try session.apply(
      step.mutation, by: step.actor, at: moment, newJobID: job(session.rev + 1), limits: limits)
    if let change {
      last = change
      session = change.session
    }
    return change
  }

  /// What `step` is refused for; nil when it is not.
  func refusal(_ step: Step) -> Refusal? {
    do throws(Refusal) {
      _ = try session.apply(
        step.mutation, by: step.actor, at: start, newJobID: job(session.rev + 1), limits: limits)
      return nil
    } catch {
      return error
    }
  }
}

func job(_ rev: Int) -> JobID { JobID("job_\(rev)") }

// Ways to a state. The number of the job is the rev of the change that started it.
enum Way {
  static let generating: [Step] = [.by(dennis, .ready(true)), .by(jaqueline, .ready(true))]
  static let proposed = generating + [.kitchen(.proposals(job(3), dishes))]
  static let finalizing =
    proposed + [.by(dennis, .confirm(pasta.id)), .by(jaqueline, .confirm(pasta.id))]
  static let decided = finalizing + [.kitchen(.decision(job(6), title: "Pasta al limone"))]
  static let cancelled: [Step] = [.by(dennis, .cancel)]
}

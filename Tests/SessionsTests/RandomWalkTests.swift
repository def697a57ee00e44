import ActivityContracts
import Sessions
import Testing
import Vocabulary

/// SplitMix64: the same seed gives the same walk everywhere.
private struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

private func randomMutation(
  in session: Session, using dice: inout Seeded
) -> Mutation {
  let dish = dishes.randomElement(using: &dice)?.id ?? pasta.id
  let jobID = Bool.random(using: &dice) ? session.job?.jobID ?? job(1) : job(1)
  switch Int.random(in: 0..<100, using: &dice) {
  case 0..<5: return .join
  case 5..<12: return .answer
  case 12..<40: return .ready(Int.random(in: 0..<4, using: &dice) > 0)
  case 40..<50: return .pick(dish)
  case 50..<68: return .confirm(dish)
  case 68..<71: return .leave
  case 71..<72: return .cancel
  case 72..<84: return .proposals(jobID, dishes)
  case 84..<92: return .decision(jobID, title: "Suppe")
  case 92..<98: return .jobTimedOut(jobID)
  default: return .expire
  }
}

private func expectSound(_ change: Change, after before: Session) throws {
  let session = change.session
  #expect(session.rev == before.rev + 1)
  #expect(session.updatedAt >= before.updatedAt)
  #expect(session.expiresAt <= session.createdAt + limits.lifeMax)
  #expect(session.state.isFinal == (session.endReason != nil))
  #expect((session.state == .decided) == (session.decidedTitle != nil))
  if session.state == .generating || session.state == .finalizing {
    #expect(session.jobInHand != nil)
  } else {
    #expect((session.job != nil) == (change.mutationName == "job_timeout"))
  }
  #expect(!session.present.isEmpty || session.endReason == .left)
  if session.state == .proposed || session.state == .finalizing {
    #expect(session.proposals == dishes)
  }
  #expect(try JSON.decode(Session.self, from: JSON.encoded(session)) == session)
  for profile in [dennis, jaqueline] {
    let state = session.contentState(for: profile.userID, language: .german)
    #expect(!state.statusLabel.isEmpty && !state.statusLabel.contains("{"))
    #expect((state.ended == true) == ["decided", "cancelled"].contains(state.state))
  }
}

@Suite struct RandomWalkTests {
  @Test(arguments: 0..<UInt64(150))
  func `whatever is done in whatever order, the session stays sound`(seed: UInt64) throws {
    var dice = Seeded(state: seed)
    var planning = try Planning()
    var moment = start
    for _ in 0..<60 {
      moment = moment + .milliseconds(Int64.random(in: -500...1_000_000, using: &dice))
      let before = planning.session
      let step = Step(
        actor: [dennis.userID, jaqueline.userID, stranger].randomElement(using: &dice),
        mutation: randomMutation(in: before, using: &dice))
      let change: Change?
      do throws(Refusal) {
        change = try before.apply(
          step.mutation, by: step.actor, at: moment, newJobID: job(before.rev + 1), limits: limits)
      } catch {
        continue
      }
      guard let change else { continue }
      try expectSound(change, after: before)
      planning.session = change.session
    }
  }
}

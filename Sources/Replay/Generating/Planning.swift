import Cryptography
import Foundation
import Pipeline
import Sessions
import Vocabulary

/// How one session of an evening goes, from the invitation to its end.
struct Planning {
  private static let names = [
    "Dennis", "Jaqueline", "Mara", "Tim", "Aylin", "Jonas", "Lena", "Emre", "Sophie", "Paul",
    "Ida", "Karim", "Nora", "Felix", "Zoë", "Ben",
  ]
  private static let tints = ["teal", "coral", "amber", "plum", "moss", "sky"]
  private static let emoji = ["🐢", "🐠", "🦊", "🐝", "🦉", "🐙", "🐌", "🦔"]
  private static let dishes = [
    "Linsen-Dal mit Spinat", "Flammkuchen", "Gemüsecurry", "Spaghetti mit Pesto", "Ofenkürbis",
    "Kartoffelsuppe", "Shakshuka", "Käsespätzle", "Gebratener Reis", "Quiche mit Lauch",
    "Zucchini-Puffer mit Joghurt und einem kleinen Gurkensalat", "Chili sin Carne",
  ]
  /// Most events of one session: people who never agree go to bed.
  private static let eventsMax = 60

  private(set) var draws: Draws
  private(set) var events: [OutboxEvent] = []
  private let people: [Profile]
  private var session: Session
  private var now: UnixTime
  private let limits = SessionLimits()

  init(number: Int, at moment: UnixTime, people count: Int, draws given: Draws) {
    draws = given
    now = moment
    let first = Int.random(in: 0..<count, using: &draws)
    let second = (first + Int.random(in: 1..<count, using: &draws)) % count
    people = [first, second].map(Self.profile)
    let day = String(moment.rfc3339.prefix(10))
    do {
      let change = try Session.create(
        id: SessionID("cs_\(number)"), date: day, initiator: people[0], partner: people[1],
        at: moment, limits: limits)
      session = change.session
      tell(change)
    } catch {
      preconditionFailure("two different people can plan a day: \(error)")
    }
  }

  private static func profile(_ number: Int) -> Profile {
    Profile(
      userID: UserID("u_\(number)"), name: names[number % names.count],
      tint: tints[number % tints.count], emoji: emoji[number % emoji.count], locale: "de-DE")
  }

  mutating func play() {
    if draws.happens(percent: 5) { return giveUp() }
    wait(3, 60)
    go(.join, by: 1)
    answer()
    getReady()
    wait(2, 15)
    propose()
    if draws.happens(percent: 4) {
      wait(10, 60)
      return go(.leave, by: draws.happens(percent: 50) ? 0 : 1)
    }
    decide()
  }

  /// The partner never comes: cancelled, or forgotten until its time is over.
  private mutating func giveUp() {
    wait(20, 600)
    if draws.happens(percent: 60) { go(.cancel, by: 0) }
  }

  private mutating func answer() {
    for _ in 0..<Int.random(in: 2...5, using: &draws) {
      wait(2, 25)
      go(.answer, by: draws.happens(percent: 50) ? 0 : 1)
    }
  }

  private mutating func getReady() {
    for person in [0, 1] {
      wait(2, 30)
      go(.ready(true), by: person)
      // Second thoughts.
      if session.state == .answering, draws.happens(percent: 20) {
        wait(3, 20)
        go(.ready(false), by: person)
        wait(2, 20)
        go(.answer, by: person)
        wait(2, 10)
        go(.ready(true), by: person)
      }
    }
  }

  private mutating func propose() {
    guard let job = session.job else { return }
    let count = Int.random(in: 3...5, using: &draws)
    let begin = Int.random(in: 0..<Self.dishes.count, using: &draws)
    let proposals = (0..<count).map { place in
      Proposal(
        id: ProposalID("p\(place + 1)"), title: Self.dishes[(begin + place) % Self.dishes.count])
    }
    go(.proposals(job.jobID, proposals), by: nil)
  }

  /// Both look round, pick this and that, and confirm; the last to look agrees.
  private mutating func decide() {
    let ids = session.proposals.map(\.id)
    guard !ids.isEmpty else { return }
    for _ in 0..<Int.random(in: 1...6, using: &draws) {
      wait(3, 30)
      go(.pick(draws.one(of: ids)), by: draws.happens(percent: 50) ? 0 : 1)
    }
    let chosen = draws.one(of: ids)
    let first = draws.happens(percent: 50) ? 0 : 1
    wait(2, 20)
    go(.confirm(draws.happens(percent: 15) ? draws.one(of: ids) : chosen), by: first)
    wait(2, 40)
    go(.confirm(chosen), by: 1 - first)
    if session.state == .proposed {
      wait(3, 30)
      go(.confirm(chosen), by: first)
    }
    guard let job = session.job, session.state == .finalizing else { return }
    wait(1, 4)
    let title = session.proposals.first { $0.id == chosen }?.title ?? Self.dishes[0]
    go(.decision(job.jobID, title: title), by: nil)
  }

  private mutating func wait(_ least: Double, _ most: Double) {
    now = now + draws.span(least, most)
  }

  /// `person` nil: the kitchen.
  private mutating func go(_ mutation: Mutation, by person: Int?) {
    guard events.count < Self.eventsMax else { return }
    do {
      let change = try session.apply(
        mutation, by: person.map { people[$0].userID }, at: now,
        newJobID: JobID("job_\(session.id)_\(session.rev)"), limits: limits)
      guard let change else { return }
      session = change.session
      tell(change)
    } catch {
      preconditionFailure("the play knows the rules: \(error)")
    }
  }

  private mutating func tell(_ change: Change) {
    let id = EventID(UUIDText.named(["evening", session.id.text, "\(change.session.rev)"]))
    events.append(Event.outboxEntry(for: change, id: id, at: now, traceparent: nil))
  }
}

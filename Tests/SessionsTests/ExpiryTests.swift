import Sessions
import Testing
import Vocabulary

private let hour = Duration.seconds(3600)

@Suite struct ExpiryTests {
  @Test func `a session lives two hours from its last mutation`() throws {
    var planning = try Planning()
    #expect(planning.session.expiresAt == start + hour * 2)
    let later = start + hour
    try planning.take(.by(dennis, .answer), at: later)
    #expect(planning.session.expiresAt == later + hour * 2)
  }

  @Test func `what changes nothing does not lengthen its life`() throws {
    var planning = try Planning()
    try planning.take(.by(dennis, .join), at: start + hour)
    #expect(planning.session.expiresAt == start + hour * 2)
  }

  @Test func `a session never lives longer than eight hours`() throws {
    var planning = try Planning()
    for (at, expires) in [(5, 7), (6, 8), (7, 8), (9, 8)] {
      try planning.take(.by(dennis, .answer), at: start + hour * at)
      #expect(planning.session.expiresAt == start + hour * expires, "after \(at) hours")
    }
  }

  @Test func `a life shorter than the idle time counts from the start`() throws {
    let change = try Session.create(
      id: SessionID("cs_abc"), date: "2026-06-18", initiator: dennis, partner: nil, at: start,
      limits: SessionLimits(ttl: hour * 3, lifeMax: hour))
    #expect(change.session.expiresAt == start + hour)
  }

  @Test func `a session expires at its moment, not a millisecond before`() throws {
    var planning = try Planning()
    let moment = planning.session.expiresAt
    #expect(try planning.take(.kitchen(.expire), at: moment - .milliseconds(1)) == nil)
    let change = try #require(try planning.take(.kitchen(.expire), at: moment))
    #expect(change.session.state == .cancelled)
    #expect(change.session.endReason == .ttl)
    #expect(change.eventType == .cancelled)
    #expect(change.mutationName == "expire")
    #expect(change.actor == nil)
    #expect(change.session.rev == 2)
    #expect(change.session.expiresAt == moment)
  }

  @Test(arguments: [[], Way.generating, Way.proposed, Way.finalizing])
  func `each state expires and gives up its job`(way: [Step]) throws {
    var planning = try Planning(through: way)
    let change = try planning.take(.kitchen(.expire), at: start + hour * 2)
    #expect(change?.session.endReason == .ttl)
    #expect(planning.session.job == nil)
  }

  @Test(arguments: [Way.decided, Way.cancelled])
  func `what has ended does not expire`(way: [Step]) throws {
    var planning = try Planning(through: way)
    #expect(try planning.take(.kitchen(.expire), at: start + hour * 24) == nil)
  }

  @Test func `a mutation that comes before the sweep wins`() throws {
    var planning = try Planning()
    let late = planning.session.expiresAt + .milliseconds(1)
    try planning.take(.by(dennis, .answer), at: late)
    #expect(try planning.take(.kitchen(.expire), at: late) == nil)
    #expect(planning.session.state == .answering)
  }

  @Test func `updated_at holds whole seconds and never goes back`() throws {
    var planning = try Planning()
    #expect(planning.session.updatedAt == UnixTime(seconds: start.seconds))
    #expect(planning.session.createdAt == start)
    let later = start + .milliseconds(60_900)
    try planning.take(.by(dennis, .answer), at: later)
    #expect(planning.session.updatedAt == UnixTime(seconds: later.seconds))
    try planning.take(.by(dennis, .answer), at: start)
    #expect(planning.session.updatedAt == UnixTime(seconds: later.seconds))
    #expect(planning.session.expiresAt == UnixTime(seconds: later.seconds) + hour * 2)
  }
}

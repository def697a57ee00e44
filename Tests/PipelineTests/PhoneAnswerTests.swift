import Foundation
import Pipeline
import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

/// Why does this person's phone not show the newest rev? One test per place where a message can
/// stop.
@Suite struct PhoneAnswerTests {
  private let world: ExplainWorld
  private let mara = Samples.mara
  private var token: String { Samples.token(4).fingerprint }

  init() throws { world = try ExplainWorld() }

  /// Mara's card was started and its token is registered.
  private func started() throws {
    try world.register(1, of: mara, .pushToStart, isHeard: false)
    try world.commit()
    try world.turns()
    try world.register(4, of: mara, .update)
    try world.turns(then: .seconds(1))
  }

  private func ready() throws { try world.go(.ready(true), by: Samples.dennis) }

  @Test func `it shows it`() throws {
    try started()
    try world.report(mara, .active, rev: 1)
    #expect(
      try world.answer(mara, later: .seconds(2))
        == "it does: the phone reported rev 1 2.000 s ago.")
    #expect(try world.timeline(for: mara).answers.first?.showsNewest == true)
  }

  @Test func `the broker is away`() throws {
    try started()
    try world.go(.ready(true), by: Samples.dennis, published: false)
    #expect(
      try world.answer(mara, later: .seconds(90))
        == "the event of rev 2 has waited in the outbox for 1 min 30 s: "
        + "the broker does not take it.")
  }

  @Test func `the relay has had no time yet`() throws {
    try started()
    try world.go(.ready(true), by: Samples.dennis, published: false)
    #expect(
      try world.answer(mara, later: .seconds(1))
        == "the event of rev 2 has waited in the outbox for 1.000 s: look again in a moment.")
  }

  @Test func `the builder has not come to it`() throws {
    try started()
    try ready()
    #expect(
      try world.answer(mara)
        == "the builder has not worked on rev 2 yet; the newest stored is rev 1.")
  }

  @Test func `the event came after its deadline`() throws {
    try started()
    try ready()
    world.time.advance(by: .seconds(7200))
    try world.turns()
    #expect(
      try world.answer(mara)
        == "the event of rev 2 reached the builder after its deadline; the newest stored is rev 1.")
  }

  @Test func `the card was dismissed`() throws {
    try started()
    try world.report(mara, .dismissed)
    try ready()
    try world.turns()
    #expect(
      try world.answer(mara, later: .seconds(60))
        == "the phone dismissed this card 1 min 0 s ago, and it is not started again.")
  }

  @Test func `no token is registered`() throws {
    try world.commit()
    try world.turns()
    #expect(try world.answer(mara) == "no token registered: the card cannot be started.")
    #expect(
      try world.answer(Samples.dennis)
        == "no update token is registered, and its app starts this card itself.")
  }

  @Test func `the start waits for the sender`() throws {
    try world.register(1, of: mara, .pushToStart, isHeard: false)
    try world.commit()
    try world.build()
    #expect(try world.answer(mara) == "the card's start waits for the sender.")
  }

  @Test func `the start is refused`() throws {
    try world.register(1, of: mara, .pushToStart, isHeard: false)
    world.transport.answer = { _ in .status(503, "ServiceUnavailable") }
    try world.commit()
    try world.turns()
    #expect(
      try world.answer(mara, later: .seconds(1))
        == "the card was not started, 1.000 s ago: 503 ServiceUnavailable: "
        + "the push service is in trouble, comes again.")
  }

  @Test func `the card was started and its token has not come`() throws {
    try world.register(1, of: mara, .pushToStart, isHeard: false)
    try world.commit()
    try world.turns(then: .seconds(3))
    #expect(
      try world.answer(mara)
        == "APNs accepted the card's start 3.000 s ago, "
        + "and the app has not registered its update token yet.")
  }

  @Test func `E-9 E-10 the card was started long ago and nothing was heard of it`() throws {
    try world.register(1, of: mara, .pushToStart, isHeard: false)
    try world.commit()
    try world.turns(then: .seconds(600))
    #expect(
      try world.answer(mara)
        == "APNs accepted the card's start 10 min 0 s ago, and the app has not registered its "
        + "update token yet: it was forced to quit, or its push-to-start token is dead and iOS "
        + "gives another.")
  }

  @Test func `the token to start it with died`() throws {
    try world.register(1, of: mara, .pushToStart, isHeard: false)
    try world.store.write {
      _ = try $0.prune(
        Samples.token(1), because: "Unregistered", unlessRegisteredAfter: world.time.now())
    }
    try world.commit()
    try world.turns()
    #expect(
      try world.answer(mara)
        == "the card cannot be started: push-to-start token \(Samples.token(1).fingerprint) was "
        + "pruned (Unregistered).")
  }

  @Test func `its update token died`() throws {
    try started()
    world.transport.answer = { _ in .status(410, "Unregistered") }
    try ready()
    try world.turns()
    #expect(
      try world.answer(mara)
        == "its update token \(token) was pruned (Unregistered), and no newer one is registered.")
  }

  @Test func `the push waits for the sender`() throws {
    try started()
    try ready()
    try world.build()
    #expect(try world.answer(mara) == "the push of rev 2 to \(token) waits for the sender.")
  }

  @Test func `the lane is open`() throws {
    try started()
    world.transport.answer = { _ in .status(403, "InvalidProviderToken") }
    try ready()
    try world.turns()
    #expect(
      try world.answer(mara, later: .seconds(5))
        == "the push of rev 2 to \(token) did not get through, 5.000 s ago: "
        + "403 InvalidProviderToken: our key is refused, waits until the lane closes.")
  }

  @Test func `nobody answers`() throws {
    try started()
    world.transport.answer = { _ in .unanswered(because: "deadline") }
    try ready()
    try world.turns()
    #expect(
      try world.answer(mara)
        == "the push of rev 2 to \(token) did not get through, 0.000 s ago: "
        + "no answer (deadline), comes again.")
  }

  @Test func `APNs has it and the phone says nothing, or something older`() throws {
    try started()
    #expect(
      try world.answer(mara)
        == "APNs accepted rev 1 1.000 s ago: the phone is offline, out of budget, or has not "
        + "reported.")
    try world.report(mara, .active, rev: 1)
    try ready()
    try world.turns()
    #expect(
      try world.answer(mara, later: .seconds(4))
        == "APNs accepted rev 2 4.000 s ago: the phone is offline, out of budget, or has not "
        + "reported; the last it said, 4.000 s ago, was rev 1.")
  }

  @Test func `who left has nothing newer to show than the end`() throws {
    try started()
    try world.register(3, of: Samples.dennis, .update)
    try world.go(.leave, by: mara)
    try world.turns()
    try ready()
    try world.turns()
    #expect(try world.answer(mara).hasPrefix("APNs accepted rev 2 "))
    try world.report(mara, .ended, rev: 2)
    #expect(try world.answer(mara).hasPrefix("it does: the phone reported rev 2 "))
  }
}

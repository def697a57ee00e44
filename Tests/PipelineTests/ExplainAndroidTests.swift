import Foundation
import Pipeline
import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

/// What `explain` tells of people with Android phones.
@Suite struct ExplainAndroidTests {
  private let world: ExplainWorld
  private let mara = Samples.mara
  private let phone: String

  init() throws {
    world = try ExplainWorld()
    phone = try FCMToken("Phone:1").fingerprint
  }

  /// Mara has an Android phone and nothing else, and the session has begun.
  private func started() throws {
    try world.registerAndroid(1, of: mara)
    try world.commit()
    try world.turns(then: .seconds(1))
  }

  private func answer(_ status: Int, _ code: String? = nil) {
    world.fcm.answer = { _ in .answered(FCMAnswer(status: status, errorCode: code)) }
  }

  private func ready() throws {
    try world.go(.ready(true), by: Samples.dennis)
    try world.turns()
  }

  private func texts() throws -> [String] {
    try world.timeline(for: mara).entries.filter { $0.source != .api }.map(\.text)
  }

  @Test func `a user with an Android phone alone is told of, from build to acceptance`() throws {
    try started()
    #expect(
      try texts() == [
        "fcm \(phone) registered, app.example.cook", "stored rev 1 → 1 message to Android",
        "fcm of rev 1 to \(phone): 200: accepted, 0.000 s after the mutation",
      ])
    #expect(
      try world.answer(mara)
        == "FCM accepted rev 1 1.000 s ago: the phone is offline, or has not reported.")
    let build = try #require(try world.history().builds.first { $0.userID == mara.userID })
    #expect(build.fcmJobs == 1)
    #expect(build.reason == nil)
  }

  @Test func `a phone that came late is told of`() throws {
    try world.commit()
    try world.turns()
    try world.registerAndroid(1, of: mara)
    try world.turns()
    #expect(try texts().contains("a token came late: rev 1 → 1 message to Android"))
  }

  @Test func `an iPhone and an Android phone are counted side by side`() throws {
    try world.register(1, of: mara, .pushToStart, isHeard: false)
    try started()
    #expect(try texts().contains("stored rev 1 → 1 start, 1 message to Android"))
    #expect(
      try world.answer(mara).hasPrefix("APNs accepted the card's start"), "the iPhone is behind")
  }

  @Test func `the message waits for the sender`() throws {
    try started()
    try world.go(.ready(true), by: Samples.dennis)
    try world.build()
    #expect(try world.answer(mara) == "the push of rev 2 to \(phone) waits for the sender.")
  }

  @Test func `the app is gone`() throws {
    try started()
    answer(404, "UNREGISTERED")
    try ready()
    #expect(
      try texts().last
        == "fcm of rev 2 to \(phone): 404 UNREGISTERED: the app is gone from the phone, pruned")
    #expect(
      try world.answer(mara)
        == "its Android phone's token \(phone) was pruned (404 UNREGISTERED), "
        + "and no newer one is registered.")
  }

  @Test func `the project is refused`() throws {
    try started()
    answer(403)
    try ready()
    #expect(
      try world.answer(mara, later: .seconds(5))
        == "the push of rev 2 to \(phone) did not get through, 5.000 s ago: "
        + "403 without a reason: our service account is refused, waits until the lane closes.")
  }

  @Test func `it shows it`() throws {
    try started()
    try world.report(mara, .active, rev: 1)
    #expect(try world.answer(mara).hasPrefix("it does: the phone reported rev 1"))
  }

  @Test func `a state that was passed over has its reason`() throws {
    try started()
    world.fcm.answer = { _ in nil }
    try world.go(.ready(true), by: Samples.dennis)
    try world.turns()
    for isReady in [false, true] {
      try world.go(.ready(isReady), by: Samples.dennis)
      try world.turns()
    }
    #expect(try texts().contains { $0.contains("superseded: rev") })
  }

  @Test func `no token of an Android phone is told whole`() throws {
    try started()
    #expect(try !texts().contains { $0.contains("Phone:1") })
    let message = Message(
      id: "x", type: "fcm.update", contentType: "c",
      headers: [PushJob.tokenHeader: .text("Phone:1")], body: Data())
    #expect(message.shownHeaders.map(\.value) == [phone])
  }
}

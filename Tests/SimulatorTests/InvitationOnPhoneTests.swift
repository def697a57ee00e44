import Foundation
import HTTPClient
import Simulator
import TestSupport
import Testing
import Vocabulary

/// Banner, sound, silent push and bell of a phone.
@Suite struct InvitationOnPhoneTests {
  private static let key = "cs-invite-cs_abc"

  private static func alert(_ sound: Bool = true) -> JSONValue {
    var aps: [String: JSONValue] = [
      "alert": ["title": "Plan mit Mara das Essen", "body": "Tippe, um mitzuplanen"]
    ]
    if sound { aps["sound"] = "default" }
    return [
      "aps": .object(aps), "link": "/cook-suggest/cs_abc", "dedupe_key": .string(key),
    ]
  }

  private static let alertHeaders: [String: String?] = [
    "apns-push-type": "alert", "apns-topic": Making.bundle, "apns-collapse-id": key,
  ]
  private static let silentHeaders: [String: String?] = [
    "apns-push-type": "background", "apns-topic": Making.bundle, "apns-priority": "5",
    "apns-id": "0190f3a2-7b1c-7def-8123-0123456789ac",
  ]
  private static func silent(_ key: String) -> JSONValue {
    ["aps": ["content-available": 1], "resolve": .string(key)]
  }

  private static func inbox(resolved: Bool) -> JSONValue {
    [
      "notifications": [
        [
          "id": "n1", "type": "cooksuggest.invitation", "title": "Plan mit Mara das Essen",
          "body": "Tippe, um mitzuplanen", "icon": "✨", "link": "/cook-suggest/cs_abc",
          "dedupe_key": .string(key), "resolved": resolved ? 1 : 0,
          "resolved_reason": resolved ? "ttl" : nil, "created_at": "2026-06-18T12:00:00Z",
          "seen_at": nil, "read_at": nil,
        ]
      ], "next": nil,
    ]
  }

  @Test func `an alert with sound and a start without make one sound`() throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    #expect(try running.push(Making.start(), to: phone.pushToStartToken).status == 200)
    #expect(
      try running.push(Self.alert(), to: phone.alertToken, Self.alertHeaders).status == 200)
    // A retry is the same push.
    #expect(
      try running.push(Self.alert(), to: phone.alertToken, Self.alertHeaders).status == 200)
    #expect(running.phone(phone.id)?.counts.sounds == 1)
    #expect(running.phone(phone.id)?.banners.first?.hasSound == true)
    #expect(running.simulator.verdict().complaints == [])
  }

  @Test(arguments: [true, false])
  func `a second sound for one invitation is complained of`(startsFirst: Bool) throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    let loud = Making.start(
      changes: ["alert": ["title": "Plan", "body": "Tippe", "sound": "default"]])
    if startsFirst {
      #expect(try running.push(loud, to: phone.pushToStartToken).status == 200)
    }
    #expect(
      try running.push(Self.alert(), to: phone.alertToken, Self.alertHeaders).status == 200)
    if !startsFirst {
      #expect(try running.push(loud, to: phone.pushToStartToken).status == 200)
    }
    #expect(running.phone(phone.id)?.counts.sounds == 2)
    #expect(running.simulator.verdict().complaints.map(\.rule) == [.doubledSound])
  }

  @Test func `a silent push takes the banner of its key away, and no other`() throws {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    #expect(
      try running.push(Self.alert(), to: phone.alertToken, Self.alertHeaders).status == 200)
    #expect(
      try running.push(Self.silent("other"), to: phone.alertToken, Self.silentHeaders).status
        == 200)
    #expect(running.phone(phone.id)?.banners.count == 1)
    #expect(
      try running.push(Self.silent(Self.key), to: phone.alertToken, Self.silentHeaders).status
        == 200)
    #expect(running.phone(phone.id)?.banners == [])
    #expect(running.phone(phone.id)?.counts.resolved == 1)
    #expect(running.phone(phone.id)?.counts.sounds == 1)
    #expect(running.simulator.verdict().complaints == [])
  }

  @Test func `a silent push with priority 10 is refused, with 1 or without a key complained of`()
    throws
  {
    let running = try RunningSimulator()
    let phone = try running.addPhone("mara")
    var headers = Self.silentHeaders
    headers["apns-priority"] = "10"
    #expect(try running.push(Self.silent("k"), to: phone.alertToken, headers).status == 400)
    headers["apns-priority"] = "1"
    #expect(try running.push(Self.silent("k"), to: phone.alertToken, headers).status == 200)
    let bare: JSONValue = ["aps": ["content-available": 1]]
    #expect(try running.push(bare, to: phone.alertToken, Self.silentHeaders).status == 200)
    #expect(running.simulator.verdict().complaints.map(\.rule) == [.priority, .resolve])
  }

  @Test func `a bell shows what is new, then grey, and asks with its ETag`() throws {
    let running = try RunningSimulator()
    running.api.tell(Self.inbox(resolved: false))
    let order = """
      {"user_id": "mara", "token": "jwt-mara", "bell": true}
      """
    #expect(try running.call("POST", "/phones", JSONValue(parsing: .init(order.utf8))).0 == 201)
    #expect(becomesTrue { running.phone("mara-1")?.inbox?.unread == 1 })
    #expect(becomesTrue { running.simulator.inboxes.counts.unchanged >= 2 })
    #expect(running.simulator.inboxes.counts.changed == 1)
    running.api.tell(Self.inbox(resolved: true))
    #expect(becomesTrue { running.phone("mara-1")?.inbox?.entries.first?.isResolved == true })
    #expect(running.phone("mara-1")?.inbox?.unread == 0)
    #expect(running.simulator.inboxes.counts.changed == 2)
    let view = try running.call("GET", "/phones/mara-1").1
    #expect(view["bell"]?["unread"] == 0)
  }

  @Test func `a banner that outlives its invitation fails the verdict`() throws {
    let running = try RunningSimulator()
    running.api.tell(Self.inbox(resolved: true))
    let order: JSONValue = ["user_id": "mara", "token": "jwt-mara", "bell": true]
    #expect(try running.call("POST", "/phones", order).0 == 201)
    guard let phone = running.phone("mara-1") else {
      Issue.record("no phone")
      return
    }
    #expect(becomesTrue { running.phone("mara-1")?.inbox != nil })
    #expect(running.simulator.verdict().ok)
    let token = phone.identity.alertToken
    #expect(try running.push(Self.alert(), to: token, Self.alertHeaders).status == 200)
    #expect(running.simulator.verdict().overdueBanners == 1)
    #expect(!running.simulator.verdict().ok)
    #expect(try running.push(Self.silent(Self.key), to: token, Self.silentHeaders).status == 200)
    #expect(running.simulator.verdict().ok)
  }
}

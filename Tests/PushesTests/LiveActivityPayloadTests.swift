import Foundation
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct LiveActivityPayloadTests {
  private static let noon = Samples.noon
  private static let state: JSONValue = [
    "state": "proposed", "statusLabel": "Vorschlag: Linsen-Dal?", "deepLinkStep": "confirm",
    "proposalCount": 2, "partnerPickTitle": "Linsen-Dal", "partnerReady": true,
    "decidedTitle": nil, "updatedAt": "2026-06-18 12:00:00", "rev": 7, "ended": nil,
  ]
  private static let start = LiveActivityPayload.Event.start(
    attributesType: "CookSuggestActivityAttributes",
    attributes: [
      "sessionId": "cs_1", "date": "2026-06-18", "partnerName": "Dennis", "partnerTint": nil,
      "partnerEmoji": "🍳",
    ], alertTitle: "Plan mit Dennis das Essen", alertBody: "Tippe, um mitzuplanen")

  private static func payload(_ event: LiveActivityPayload.Event) -> LiveActivityPayload {
    LiveActivityPayload(
      event: event, contentState: state, staleAt: event.isEnd ? nil : noon + .seconds(7200))
  }

  private static func stamped(_ event: LiveActivityPayload.Event) throws -> Data {
    LiveActivityPayload.stamped(try payload(event).encoded(), at: noon)
  }

  private static func aps(_ body: Data) throws -> [String: JSONValue] {
    guard case .object(let aps) = try JSONValue(parsing: body)["aps"] else { return [:] }
    return aps
  }

  @Test(arguments: [
    ("start.json", start), ("update.json", .update),
    ("end.json", .end(dismissAt: noon + .seconds(120))),
  ])
  func `A-1 A-2 A-18 the body is the golden one`(name: String, event: LiveActivityPayload.Event)
    throws
  {
    try expectGolden(name, Self.stamped(event))
  }

  @Test func `A-11 A-13 only an end says when the card goes`() throws {
    #expect(try Self.aps(Self.stamped(.update))["dismissal-date"] == nil)
    #expect(try Self.aps(Self.stamped(Self.start))["dismissal-date"] == nil)
    let end = try Self.aps(Self.stamped(.end(dismissAt: Self.noon)))
    #expect(end["dismissal-date"] == .integer(Self.noon.seconds))
  }

  @Test func `A-10 a start carries alert, attributes and the wish for a token, and no sound`()
    throws
  {
    let body = try Self.stamped(Self.start)
    let aps = try Self.aps(body)
    #expect(aps["event"] == "start")
    #expect(aps["attributes-type"] == "CookSuggestActivityAttributes")
    #expect(aps["attributes"]?["sessionId"] == "cs_1")
    #expect(aps["input-push-token"] == 1)
    #expect(aps["alert"]?["title"] == "Plan mit Dennis das Essen")
    #expect(!String(decoding: body, as: UTF8.self).contains("sound"))
  }

  @Test(arguments: [nil, "default", "gong.caf"])
  func `A-10 a sound stands inside of the alert, and nowhere without one`(sound: String?) throws {
    let loud = LiveActivityPayload.Additions(alert: ("News", "Come"), alertSound: sound)
    for event in [LiveActivityPayload.Event.update, Self.start] {
      let payload = LiveActivityPayload(
        event: event, contentState: Self.state, staleAt: nil, additions: loud)
      let aps = try Self.aps(payload.encoded())
      #expect(aps["alert"]?["sound"] == sound.map { .string($0) })
      #expect(aps["sound"] == nil)
    }
    let silent = LiveActivityPayload(
      event: .update, contentState: Self.state, staleAt: nil,
      additions: .init(alertSound: sound))
    #expect(try Self.aps(silent.encoded())["alert"] == nil)
  }

  @Test func `an update and an end carry none of what belongs to a start`() throws {
    for event in [LiveActivityPayload.Event.update, .end(dismissAt: Self.noon)] {
      let aps = try Self.aps(Self.stamped(event))
      for name in ["alert", "attributes", "attributes-type", "input-push-token"] {
        #expect(aps[name] == nil, "\(name)")
      }
    }
  }

  @Test func `E-16 starts and updates go stale`() throws {
    let staleAt = JSONValue.integer((Self.noon + .seconds(7200)).seconds)
    #expect(try Self.aps(Self.stamped(Self.start))["stale-date"] == staleAt)
    #expect(try Self.aps(Self.stamped(.update))["stale-date"] == staleAt)
  }

  @Test func `absent values of the state are written as null`() throws {
    let state = try #require(try Self.aps(Self.stamped(.update))["content-state"])
    #expect(state["decidedTitle"] == .null)
    #expect(state["ended"] == .null)
  }

  @Test func `A-3 A-4 the stamp is a whole number of seconds and costs what was counted for it`()
    throws
  {
    let body = try Self.payload(.update).encoded()
    let moment = UnixTime(milliseconds: Self.noon.milliseconds + 987)
    let stamped = LiveActivityPayload.stamped(body, at: moment)
    #expect(stamped.count == body.count + LiveActivityPayload.stampBytes)
    #expect(try Self.aps(stamped)["timestamp"] == .integer(moment.seconds))
    #expect(
      String(decoding: stamped, as: UTF8.self).contains("\"timestamp\":\(moment.seconds),"))
  }
}

extension LiveActivityPayload.Event {
  fileprivate var isEnd: Bool { if case .end = self { true } else { false } }
}

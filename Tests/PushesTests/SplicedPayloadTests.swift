import Foundation
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct SplicedPayloadTests {
  private static let state: JSONValue = [
    "statusLabel": "Mara & \"Noor\" / 🍳", "rev": 7, "decidedTitle": nil, "partnerReady": true,
  ]
  private static let events: [LiveActivityPayload.Event] = [
    .update, .end(dismissAt: nil), .end(dismissAt: Samples.noon),
  ]

  @Test(arguments: events, [nil, Samples.noon + .seconds(60)])
  func `it is the payload that would be encoded, byte for byte`(
    event: LiveActivityPayload.Event, staleAt: UnixTime?
  ) throws {
    let encoded = try LiveActivityPayload(
      event: event, contentState: Self.state, staleAt: staleAt
    ).encoded()
    let spliced = LiveActivityPayload.spliced(
      event, contentState: Self.state.encoded, staleAt: staleAt)
    #expect(spliced == encoded)
  }

  @Test(arguments: [(4096, true), (4097, false)])
  func `it fits with its stamp, or it is none`(bytes: Int, fits: Bool) {
    let empty = LiveActivityPayload.spliced(.update, contentState: Data(), staleAt: nil)?.count
    let state = Data(
      repeating: UInt8(ascii: "1"), count: bytes - LiveActivityPayload.stampBytes - (empty ?? 0))
    let body = LiveActivityPayload.spliced(.update, contentState: state, staleAt: nil)
    #expect((body != nil) == fits)
  }

  @Test func `what it would leave out makes it none`() {
    let start = LiveActivityPayload.Event.start(
      attributesType: "Some", attributes: [:], alertTitle: "a", alertBody: "b")
    let additions: [LiveActivityPayload.Additions] = [
      .init(alert: ("a", "b")), .init(alertSound: "default"), .init(relevanceScore: 1),
      .init(beside: ["deepLink": "x"]),
    ]
    let state = Self.state.encoded
    #expect(LiveActivityPayload.spliced(start, contentState: state, staleAt: nil) == nil)
    for additions in additions {
      let body = LiveActivityPayload.spliced(
        .update, contentState: state, staleAt: nil, additions: additions)
      #expect(body == nil)
    }
  }
}

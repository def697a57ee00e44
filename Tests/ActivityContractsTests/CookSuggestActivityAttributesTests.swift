import ActivityContracts
import Foundation
import Testing
import Vocabulary

private typealias Attributes = CookSuggestActivityAttributes

/// The two values of the contract's sample, letter for letter.
private let sampleInTheContract = """
  { "content-state": { "state": "proposed", "statusLabel": "3 Vorschläge sind da",
                       "deepLinkStep": "proposals", "proposalCount": 3,
                       "partnerPickTitle": null, "partnerReady": true,
                       "decidedTitle": null, "updatedAt": "2026-06-18 19:12:03",
                       "rev": 7, "ended": null },
    "attributes": { "sessionId": "cs_abc", "date": "2026-06-18",
                    "partnerName": "Jaqueline", "partnerTint": "coral", "partnerEmoji": "🐠" } }
  """

private struct Payload: Codable, Hashable {
  enum CodingKeys: String, CodingKey {
    case contentState = "content-state"
    case attributes
  }

  var contentState: Attributes.ContentState
  var attributes: Attributes
}

private let sample = Payload(
  contentState: .init(
    state: "proposed", statusLabel: "3 Vorschläge sind da", deepLinkStep: "proposals",
    proposalCount: 3, partnerPickTitle: nil, partnerReady: true, decidedTitle: nil,
    updatedAt: "2026-06-18 19:12:03", rev: 7, ended: nil),
  attributes: .init(
    sessionId: "cs_abc", date: "2026-06-18", partnerName: "Jaqueline", partnerTint: "coral",
    partnerEmoji: "🐠"))

private let empty = Payload(
  contentState: .init(
    state: "answering", statusLabel: "", deepLinkStep: nil, proposalCount: 0,
    partnerPickTitle: nil, partnerReady: false, decidedTitle: nil, updatedAt: nil, rev: 1,
    ended: nil),
  attributes: .init(
    sessionId: "", date: "", partnerName: nil, partnerTint: nil, partnerEmoji: nil))

private func members(_ value: some Encodable) throws -> [String: JSONValue] {
  guard case .object(let members) = try JSONValue(parsing: JSON.encoded(value)) else { return [:] }
  return members
}

@Suite struct CookSuggestActivityAttributesTests {
  @Test func `what we send is the golden file byte for byte`() throws {
    try expectGolden("cook-suggest.json", JSON.encoded(sample) + Data("\n".utf8))
  }

  @Test func `the contract's sample says the same as what we send`() throws {
    let contract = try JSONValue(parsing: Data(sampleInTheContract.utf8)).encoded
    #expect(
      String(decoding: contract, as: UTF8.self)
        == String(decoding: JSON.encoded(sample), as: UTF8.self))
  }

  @Test func `A-14 the contract's sample decodes`() throws {
    #expect(try JSON.decode(Payload.self, from: Data(sampleInTheContract.utf8)) == sample)
  }

  @Test func `every key is written, absent values as null`() throws {
    let state = try members(empty.contentState)
    #expect(
      Set(state.keys) == [
        "state", "statusLabel", "deepLinkStep", "proposalCount", "partnerPickTitle",
        "partnerReady", "decidedTitle", "updatedAt", "rev", "ended",
      ])
    for key in ["deepLinkStep", "partnerPickTitle", "decidedTitle", "updatedAt", "ended"] {
      #expect(state[key] == .null, "\(key)")
    }
    let attributes = try members(empty.attributes)
    #expect(
      Set(attributes.keys) == ["sessionId", "date", "partnerName", "partnerTint", "partnerEmoji"])
    for key in ["partnerName", "partnerTint", "partnerEmoji"] {
      #expect(attributes[key] == .null, "\(key)")
    }
  }

  @Test(arguments: [sample, empty])
  private func `what is written reads back`(payload: Payload) throws {
    #expect(try JSON.decode(Payload.self, from: JSON.encoded(payload)) == payload)
  }

  @Test func `missing optional keys read as nil`() throws {
    let state = try JSON.decode(
      Attributes.ContentState.self,
      from: Data(
        #"{"state":"answering","statusLabel":"","proposalCount":0,"partnerReady":false,"rev":1}"#
          .utf8))
    #expect(state == empty.contentState)
    let attributes = try JSON.decode(
      Attributes.self, from: Data(#"{"sessionId":"","date":""}"#.utf8))
    #expect(attributes == empty.attributes)
  }

  @Test(arguments: ["state", "statusLabel", "proposalCount", "partnerReady", "rev"])
  func `A-5 A-6 a missing required key is an error that names it`(key: String) throws {
    var state = try members(sample.contentState)
    state[key] = nil
    let text = JSONValue.object(state).encoded
    let error = #expect(throws: DecodingError.self) {
      try JSON.decode(Attributes.ContentState.self, from: text)
    }
    #expect(try DecodingProblem(#require(error)).description == "\(key) is missing")
  }

  @Test func `slashes, umlauts and emoji are written as they are`() {
    var state = sample.contentState
    state.statusLabel = "Köche/n …🐠"
    let text = String(decoding: JSON.encoded(state), as: UTF8.self)
    #expect(text.contains(#""statusLabel":"Köche/n …🐠""#))
  }

  @Test func `names are the contract's`() {
    #expect(Attributes.activityType == "CookSuggestActivityAttributes")
    #expect(Attributes.activityType == String(describing: Attributes.self))
    #expect(
      Attributes.contextKey(sessionID: "cs_abc", userID: "u_dennis")
        == "cooksuggest:cs_abc:u_dennis")
  }
}

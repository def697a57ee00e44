import Foundation
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct AlertPayloadTests {
  private func payload(
    title: String = "Plan mit Dennis das Essen", link: String = "/cook-suggest/cs_1"
  ) -> AlertPayload {
    AlertPayload(
      title: title, body: "Tippe, um mitzuplanen", link: link, dedupeKey: "cs-invite-cs_1")
  }

  @Test func `the body is the golden one`() throws {
    try expectGolden("alert.json", payload().encoded())
  }

  @Test func `our members stand beside aps, the sound within it`() throws {
    let json = try JSONValue(parsing: payload().encoded())
    #expect(json["link"] == "/cook-suggest/cs_1")
    #expect(json["dedupe_key"] == "cs-invite-cs_1")
    #expect(json["aps"]?["sound"] == "default")
  }

  @Test(arguments: ["\u{1}", "\"", "ä", "👩‍👩‍👧‍👦"])
  func `a title of any length and any characters fits`(unit: String) throws {
    let body = try payload(title: String(repeating: unit, count: 2000)).encoded()
    #expect(body.count <= LiveActivityPayload.bytesMax)
    #expect(try JSONValue(parsing: body)["link"] == "/cook-suggest/cs_1")
  }

  @Test func `a link that leaves no room is refused with the sizes`() throws {
    let long = payload(link: String(repeating: "l", count: 5000))
    let error = try #require(throws: PayloadTooLarge.self) { try long.encoded() }
    #expect(error.bytes > 5000)
  }
}

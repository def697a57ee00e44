import Foundation
import Pushes
import Testing
import Vocabulary

@Suite struct ResolvePayloadTests {
  @Test func `it is silent and names the notification beside aps`() throws {
    let body = try ResolvePayload(dedupeKey: "cs-invite-cs_1").encoded()
    #expect(
      String(decoding: body, as: UTF8.self)
        == #"{"aps":{"content-available":1},"resolve":"cs-invite-cs_1"}"#)
  }

  @Test func `a key that leaves no room is refused, one that just fits is not`() throws {
    let frame = try ResolvePayload(dedupeKey: "").encoded().count
    let room = LiveActivityPayload.bytesMax - frame
    let fits = try ResolvePayload(dedupeKey: String(repeating: "k", count: room)).encoded()
    #expect(fits.count == LiveActivityPayload.bytesMax)
    let long = ResolvePayload(dedupeKey: String(repeating: "k", count: room + 1))
    let error = #expect(throws: PayloadTooLarge.self) { try long.encoded() }
    #expect(error?.bytes == 4097)
  }
}

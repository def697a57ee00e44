import Foundation
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct ShorteningTextTests {
  /// One grapheme of 25 bytes.
  private static let family = "👩‍👩‍👧‍👦"

  /// An update whose body with its stamp has exactly `bytes`; `label` is text that may be cut.
  private static func update(ofBytes bytes: Int, label: String) throws -> LiveActivityPayload {
    func payload(filler: Int) -> LiveActivityPayload {
      LiveActivityPayload(
        event: .update,
        contentState: [
          "statusLabel": .string(label), "filler": .string(String(repeating: "x", count: filler)),
        ], staleAt: nil)
    }
    let empty = try payload(filler: 0).encoded().count + LiveActivityPayload.stampBytes
    return payload(filler: bytes - empty)
  }

  private static func label(of body: Data) throws -> String? {
    guard
      case .string(let text) = try JSONValue(parsing: body)["aps"]?["content-state"]?[
        "statusLabel"]
    else { return nil }
    return text
  }

  @Test(arguments: [
    String(repeating: "a", count: 400), String(repeating: "ä", count: 200),
    String(repeating: "漢", count: 130), String(repeating: "👩‍👩‍👧‍👦", count: 16),
  ])
  func `4096 bytes go as they are, 4097 are shortened`(label: String) throws {
    let fits = try Self.update(ofBytes: 4096, label: label).encoded()
    #expect(LiveActivityPayload.stamped(fits, at: Samples.noon).count == 4096)
    #expect(try Self.label(of: fits) == label)

    let cut = try Self.update(ofBytes: 4097, label: label).encoded()
    #expect(LiveActivityPayload.stamped(cut, at: Samples.noon).count <= 4096)
    let shortened = try #require(try Self.label(of: cut))
    #expect(shortened.hasSuffix("…"))
    #expect(label.hasPrefix(shortened.dropLast()), "cut between graphemes")
    #expect(shortened.count > label.count / 2, "cut no more than needed")
  }

  @Test func `what no shortening makes fit is refused with both sizes`() throws {
    let payload = try Self.update(ofBytes: 5000, label: String(repeating: "a", count: 100))
    let error = try #require(throws: PayloadTooLarge.self) { try payload.encoded() }
    #expect(error.bytes == 5000)
    #expect(error.shortest == 5000 - 76)
    #expect(
      "\(error)" == "payload is 5000 bytes, shortened 4924; APNs takes 4096")
  }

  @Test func `names and numbers are never cut`() throws {
    let long = String(repeating: "n", count: 3000)
    let payload = LiveActivityPayload(
      event: .start(
        attributesType: "T", attributes: ["sessionId": .string(long), "partnerName": "Mara"],
        alertTitle: String(repeating: "t", count: 2000), alertBody: "b"),
      contentState: ["state": "answering"], staleAt: nil)
    let aps = try #require(try JSONValue(parsing: payload.encoded())["aps"])
    #expect(aps["attributes"]?["sessionId"] == .string(long))
    #expect(aps["attributes"]?["partnerName"] == "Mara")
    guard case .string(let title) = aps["alert"]?["title"] else {
      Issue.record("no title")
      return
    }
    #expect(title.hasSuffix("t…"))
  }

  @Test(arguments: [
    ("Linsen-Dal", 10, "Linsen-Dal"), ("Linsen-Dal", 9, "Linsen…"), ("Größe", 7, "Größe"),
    ("Größe", 6, "Gr…"), ("Reis mit Ei", 12, "Reis mit Ei"), ("Reis mit Eiern", 12, "Reis mit…"),
    ("a👩‍👩‍👧‍👦b", 27, "a👩‍👩‍👧‍👦b"), ("a👩‍👩‍👧‍👦bc", 27, "a…"), ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 28, "👩‍👩‍👧‍👦…"),
    ("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 27, "…"), ("", 0, ""), ("e\u{301}e\u{301}", 5, "…"),
  ])
  func `a text is cut between graphemes`(text: String, limit: Int, cut: String) {
    #expect(text.shortened(toBytes: limit) == cut)
    #expect(text.shortened(toBytes: limit).utf8.count <= max(limit, 3))
  }
}

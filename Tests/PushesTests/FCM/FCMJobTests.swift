import Foundation
import Testing
import Vocabulary

@testable import Pushes

@Suite struct FCMJobTests {
  private let noon = UnixTime(milliseconds: 1_781_784_000_000)

  private func data(_ padding: Int = 0) -> FCMData {
    var data = FCMData(
      event: .start, contextKey: ContextKey("cooksuggest:cs_1:ada"), sessionID: SessionID("cs_1"),
      kind: "CookSuggestActivityAttributes", rev: 7, causedAt: noon,
      contentState: Data(#"{"rev":7}"#.utf8))
    data.attributes = Data(#"{"sessionId":"cs_1"}"#.utf8)
    data.alert = ("Tippe", String(repeating: "x", count: padding))
    return data
  }

  private func job(_ data: FCMData) throws -> FCMJob {
    FCMJob(
      id: "i", event: .start, sessionID: data.sessionID, userID: UserID("ada"),
      contextKey: data.contextKey, rev: 7, token: try FCMToken("abc:APA91b"),
      packageName: "app.example.cook", isUrgent: true, deadline: noon + .seconds(600),
      causedAt: noon, traceparent: nil, data: data.encoded, dataBytes: data.bytes)
  }

  @Test func `a message is data alone, all of it strings, and can start the card`() throws {
    let message = try #require(try JSONValue(parsing: job(data()).body(now: noon))["message"])
    #expect(message["notification"] == nil)
    #expect(message["token"] == "abc:APA91b")
    #expect(
      message["android"] == [
        "priority": "HIGH", "ttl": "600s", "collapse_key": "cooksuggest:cs_1:ada",
        "restricted_package_name": "app.example.cook",
      ])
    #expect(
      message["data"] == [
        "la": "1", "event": "start", "contextKey": "cooksuggest:cs_1:ada", "sessionId": "cs_1",
        "kind": "CookSuggestActivityAttributes", "rev": "7", "timestamp": "1781784000",
        "contentState": #"{"rev":7}"#, "attributes": #"{"sessionId":"cs_1"}"#,
        "alertTitle": "Tippe", "alertBody": "",
      ])
  }

  @Test func `4096 bytes of data pass, one more does not leave`() throws {
    let room = FCMData.bytesMax - data().bytes
    #expect(try job(data(room)).dataBytes == 4096)
    try job(data(room)).checkSize()
    #expect(throws: FCMDataTooLarge(bytes: 4097)) { try job(data(room + 1)).checkSize() }
  }

  @Test func `a token is visible ASCII, and never shown`() throws {
    #expect(throws: FCMTokenError.length(0)) { try FCMToken("") }
    #expect(throws: FCMTokenError.length(1025)) {
      try FCMToken(String(repeating: "a", count: 1025))
    }
    #expect(throws: FCMTokenError.character) { try FCMToken("a b") }
    #expect(throws: FCMTokenError.character) { try FCMToken("ä") }
    #expect(try "\(FCMToken("abc:APA91b"))".count == 8)
  }
}

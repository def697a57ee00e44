import Simulator
import Testing
import Vocabulary

@Suite struct PayloadContractTests {
  private func rules(_ push: AcceptedPush) -> [Finding.Rule] {
    PayloadContract.findings(in: push).map(\.rule)
  }

  @Test func `good pushes give nothing to complain of`() {
    #expect(rules(Making.push(Making.update())).isEmpty)
    #expect(rules(Making.push(Making.start(), use: .pushToStart)).isEmpty)
    let dismissal = ["dismissal-date": JSONValue.integer(Making.now.seconds)]
    #expect(rules(Making.push(Making.update("end", changes: dismissal))).isEmpty)
    #expect(rules(Making.push(Making.alert, use: .alert, type: .alert)).isEmpty)
    let silent: JSONValue = ["aps": ["content-available": 1], "resolve": "cs-invite-cs_abc"]
    #expect(rules(Making.push(silent, use: .alert, type: .background)).isEmpty)
  }

  @Test(
    arguments: [
      (Making.update("stop"), .event), (Making.update(changes: ["event": nil]), .event),
      (Making.update(changes: ["event": nil, "events": "update"]), .event),
      (Making.update(changes: ["timestamp": nil]), .timestamp),
      (Making.update(changes: ["timestamp": .string("1781784000")]), .timestamp),
      (Making.update(changes: ["timestamp": .integer(1_781_784_000_000)]), .timestamp),
      (Making.update(changes: ["timestamp": .number(1.5)]), .timestamp),
      (Making.update(changes: ["content-state": nil]), .contentState),
      (Making.update("end", changes: ["content-state": nil]), .contentState),
      (Making.update(changes: ["stale-date": nil]), .staleDate),
      (Making.update(changes: ["stale-date": .integer(1_781_784_600_000)]), .staleDate),
      (Making.update(changes: ["dismissal-date": .integer(1_781_784_600)]), .dismissalDate),
      (Making.update("end", changes: ["dismissal-date": "now"]), .dismissalDate),
      (Making.update(changes: ["alert": ["title": "a"], "sound": "default"]), .alert),
      (Making.update("start"), .tokenUse),
      (["no": "aps"], .aps), (["aps": 1], .aps), ([1, 2], .json),
    ] as [(JSONValue, Finding.Rule)])
  func `an update that a phone would drop is complained of`(body: JSONValue, rule: Finding.Rule) {
    #expect(rules(Making.push(body)).contains(rule))
  }

  @Test(
    arguments: [
      (["attributes-type": nil], .attributesType), (["attributes": nil], .attributes),
      (["alert": nil], .alert), (["alert": ["title": "a"]], .alert),
      (["alert": ["title": "", "body": "b"]], .alert),
      (["input-push-token": nil], .inputPushToken), (["input-push-token": true], .inputPushToken),
    ] as [([String: JSONValue?], Finding.Rule)])
  func `a start must be whole`(changes: [String: JSONValue?], rule: Finding.Rule) {
    #expect(rules(Making.push(Making.start(changes: changes), use: .pushToStart)) == [rule])
  }

  @Test(arguments: [JSONValue.integer(100), .number(0.5), .integer(-1)])
  func `A-9 a Live Activity's relevance may be any number, an alert's is a share`(score: JSONValue)
    throws
  {
    #expect(rules(Making.push(Making.update(changes: ["relevance-score": score]))).isEmpty)
    guard case .object(var aps)? = Making.alert["aps"] else { return }
    aps["relevance-score"] = score
    let isShare = score == .number(0.5)
    #expect(
      rules(Making.push(["aps": .object(aps)], use: .alert, type: .alert))
        == (isShare ? [] : [.relevanceScore]))
    #expect(
      rules(Making.push(Making.update(changes: ["relevance-score": "100"]))) == [.relevanceScore])
  }

  @Test func `an update to a start token is complained of`() {
    #expect(rules(Making.push(Making.update(), use: .pushToStart)) == [.tokenUse])
  }

  @Test func `a localised alert counts as words`() {
    let words: JSONValue = [
      "title": ["loc-key": "T", "loc-args": []], "body": ["loc-key": "B"],
    ]
    let start = Making.start(changes: ["alert": words])
    #expect(rules(Making.push(start, use: .pushToStart)).isEmpty)
  }

  @Test func `another content type is complained of`() {
    #expect(rules(Making.push(Making.update(), contentType: nil)) == [.contentType])
    #expect(
      rules(Making.push(Making.update(), contentType: "application/x-www-form-urlencoded"))
        == [.contentType])
  }

  @Test func `a background push carries no alert`() {
    let body: JSONValue = ["aps": ["alert": "a"], "resolve": "cs-invite-cs_abc"]
    #expect(
      rules(Making.push(body, use: .alert, type: .background))
        == [.contentAvailable, .contentAvailable])
  }
}

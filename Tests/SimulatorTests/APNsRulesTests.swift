import Simulator
import Testing
import Vocabulary

@Suite struct APNsRulesTests {
  private func refusal(
    of request: APNsRequest, standing: [String: TokenStanding] = [:]
  ) throws -> APNsRefusal? {
    var history = ProviderTokenHistory()
    let known: [String: TokenStanding] = [
      Making.updateToken: .reachable(.update), Making.startToken: .reachable(.pushToStart),
      Making.alertToken: .reachable(.alert),
    ].merging(standing) { $1 }
    do {
      _ = try Making.rules().accept(request, on: &history, at: Making.now) {
        known[$0] ?? .unknown
      }
      return nil
    } catch let refusal as APNsRefusal {
      return refusal
    }
  }

  @Test func `a good push is accepted as it was sent`() throws {
    var history = ProviderTokenHistory()
    let request = Making.request(["apns-expiration": "1781784600", "apns-collapse-id": "x"])
    let push = try Making.rules().accept(request, on: &history, at: Making.now) { _ in
      .reachable(.update)
    }
    #expect(push.use == .update)
    #expect(push.priority == 10)
    #expect(push.expiration == .at(1_781_784_600))
    #expect(push.apnsID == "0190f3a2-7b1c-7def-8123-0123456789ab")
    #expect(push.collapseID == "x")
  }

  @Test(
    arguments: [
      (["authorization": nil], 403, "MissingProviderToken"),
      (["authorization": "basic x"], 403, "MissingProviderToken"),
      (["authorization": "bearer x.y.z"], 403, "InvalidProviderToken"),
      (["apns-topic": nil], 400, "MissingTopic"),
      (["apns-topic": ""], 400, "MissingTopic"),
      (["apns-topic": "de.example.other"], 400, "BadTopic"),
      (
        ["apns-topic": "de.example.cook.push-type.liveactivity.push-type.liveactivity"], 400,
        "BadTopic"
      ),
      (["apns-topic": "de.example.cook"], 400, "DeviceTokenNotForTopic"),
      (["apns-push-type": nil], 400, "InvalidPushType"),
      (["apns-push-type": "liveActivity"], 400, "InvalidPushType"),
      (["apns-push-type": "alert"], 400, "DeviceTokenNotForTopic"),
      (["apns-priority": "7"], 400, "BadPriority"),
      (["apns-priority": "1"], 400, "BadPriority"),
      (["apns-priority": ""], 400, "BadPriority"),
      (["apns-expiration": "soon"], 400, "BadExpirationDate"),
      (["apns-expiration": "-1"], 400, "BadExpirationDate"),
      (["apns-expiration": "1781784600000"], 400, "BadExpirationDate"),
      (["apns-id": "0190F3A2-7B1C-7DEF-8123-0123456789AB"], 400, "BadMessageId"),
      (["apns-id": "0190f3a27b1c7def81230123456789ab"], 400, "BadMessageId"),
      (["apns-id": ""], 400, "BadMessageId"),
      (["apns-collapse-id": ""], 400, "BadCollapseId"),
      (["apns-collapse-id": String(repeating: "x", count: 65)], 400, "BadCollapseId"),
      (["apns-collapse-id": String(repeating: "ü", count: 33)], 400, "BadCollapseId"),
    ] as [([String: String?], Int, String)])
  func `a bad header is refused in Apple's words`(
    changes: [String: String?], status: Int, reason: String
  ) throws {
    let refusal = try refusal(of: Making.request(changes))
    #expect(refusal?.status == status)
    #expect(refusal?.reason == reason)
  }

  @Test(
    arguments: [
      ["apns-priority": "5"], ["apns-priority": nil], ["apns-expiration": "0"],
      ["apns-expiration": nil], ["apns-id": nil],
      ["apns-collapse-id": String(repeating: "x", count: 64)],
      ["apns-collapse-id": String(repeating: "ü", count: 32)],
    ] as [[String: String?]])
  func `what stands just within a rule passes`(changes: [String: String?]) throws {
    #expect(try refusal(of: Making.request(changes)) == nil)
  }

  @Test func `a background push wants priority 5`() throws {
    let topic: [String: String?] = [
      "apns-topic": Making.bundle, "apns-push-type": "background",
    ]
    let body: JSONValue = ["aps": ["content-available": 1]]
    for (priority, reason) in [("5", nil), ("10", "BadPriority"), (nil, "BadPriority")] {
      let changes = topic.merging(["apns-priority": priority]) { $1 }
      let request = Making.request(changes, token: Making.alertToken, body: body)
      #expect(try refusal(of: request)?.reason == reason)
    }
  }

  @Test func `a header that stands twice is refused`() throws {
    let request = APNsRequest(
      method: "POST", path: "/3/device/\(Making.updateToken)",
      headers: Making.headers() + [APNsRequest.Header("apns-priority", "10")], body: [123])
    #expect(try refusal(of: request)?.reason == "DuplicateHeaders")
  }

  @Test(arguments: [
    ("GET", "/3/device/ab", 405, "MethodNotAllowed"),
    ("POST", "/4/device/ab", 404, "BadPath"), ("POST", "/3/device/ab/cd", 404, "BadPath"),
    ("POST", "/3/device/", 400, "MissingDeviceToken"),
    ("POST", "/3/device/abc", 400, "BadDeviceToken"),
    ("POST", "/3/device/xy", 400, "BadDeviceToken"),
    ("POST", "/3/device/ab", 400, "BadDeviceToken"),
  ])
  func `method and path are checked`(method: String, path: String, status: Int, reason: String)
    throws
  {
    let request = APNsRequest(
      method: method, path: path, headers: Making.headers(),
      body: Array(Making.update().encoded))
    let refusal = try refusal(of: request)
    #expect(refusal?.status == status)
    #expect(refusal?.reason == reason)
  }

  @Test(arguments: [2, 64, 128, 160, 200, 512])
  func `a token of any even length is taken`(digits: Int) throws {
    let token = String(repeating: "F", count: digits)
    let request = Making.request(token: token)
    // Asked for in lower case.
    let standing: [String: TokenStanding] = [token.lowercased(): .reachable(.update)]
    #expect(try refusal(of: request, standing: standing) == nil)
  }

  @Test func `4096 bytes pass and 4097 do not`() throws {
    for (count, status) in [(0, 400), (1, nil), (4096, nil), (4097, 413)] as [(Int, Int?)] {
      let request = APNsRequest(
        method: "POST", path: "/3/device/\(Making.updateToken)", headers: Making.headers(),
        body: [UInt8](repeating: 32, count: count))
      #expect(try refusal(of: request)?.status == status, "\(count)")
    }
  }

  @Test func `a dead token answers 410 with the moment in milliseconds`() throws {
    let standing: [String: TokenStanding] = [
      Making.updateToken: .unregistered(since: 1_781_000_123)
    ]
    let refusal = try refusal(of: Making.request(), standing: standing)
    #expect(refusal == APNsRefusal(410, "Unregistered", timestamp: 1_781_000_123))
    #expect(refusal?.body == ["reason": "Unregistered", "timestamp": 1_781_000_123])
  }

  @Test(
    arguments: [
      (Making.alertToken, "liveactivity", true, "DeviceTokenNotForTopic"),
      (Making.startToken, "liveactivity", true, nil),
      (Making.startToken, "alert", false, "DeviceTokenNotForTopic"),
      (Making.alertToken, "alert", false, nil),
      (Making.alertToken, "alert", true, "DeviceTokenNotForTopic"),
      (Making.alertToken, "liveactivity", false, "DeviceTokenNotForTopic"),
    ] as [(String, String, Bool, String?)])
  func `token, topic and push type must agree`(
    token: String, type: String, isSuffixed: Bool, reason: String?
  ) throws {
    let topic = Making.bundle + (isSuffixed ? ".push-type.liveactivity" : "")
    let request = Making.request(["apns-topic": topic, "apns-push-type": type], token: token)
    #expect(try refusal(of: request)?.reason == reason)
  }
}

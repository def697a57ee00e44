import Vocabulary

/// Checks a request as APNs does, and stricter where Apple's pages are silent.
///
/// Pure: the same request at the same moment gives the same answer. What APNs would swallow in
/// silence is not refused here; ``PayloadContract`` complains of it.
/// Source: research on "Sending notification requests to APNs", developer.apple.com.
package struct APNsRules: Sendable {
  /// The largest body that passes.
  package static let payloadBytesMax = 4096
  /// The longest `apns-collapse-id` that passes.
  package static let collapseIDBytesMax = 64

  package let bundleID: String
  package let providerTokens: ProviderTokenRules

  package init(bundleID: String, providerTokens: ProviderTokenRules) {
    self.bundleID = bundleID
    self.providerTokens = providerTokens
  }

  package var liveActivityTopic: String { "\(bundleID).push-type.liveactivity" }

  /// Checks one request. `connection` is what its connection has shown so far, and is changed by a
  /// good provider token; `standing` says what is known of a token, asked with lower-case digits.
  ///
  /// - Throws: the refusal that APNs would answer.
  package func accept(
    _ request: APNsRequest, on connection: inout ProviderTokenHistory, at now: UnixTime,
    standing: (String) -> TokenStanding
  ) throws(APNsRefusal) -> AcceptedPush {
    guard request.method == "POST" else { throw .methodNotAllowed }
    let token = try token(in: request.path)
    try refuseDuplicates(request.headers)
    try providerTokens.check(request.value("authorization"), on: &connection, at: now)
    try checkDigits(token)
    let topic = try topic(request.value("apns-topic"))
    let type = try pushType(request.value("apns-push-type"))
    let priority = try priority(request.value("apns-priority"), type: type)
    let expiration = try expiration(request.value("apns-expiration"))
    let apnsID = try messageID(request.value("apns-id"))
    let collapseID = try collapseID(request.value("apns-collapse-id"))
    guard !request.body.isEmpty else { throw .payloadEmpty }
    guard request.body.count <= Self.payloadBytesMax else { throw .payloadTooLarge }
    let use = try use(of: standing(token.lowercased()), topic: topic, type: type)
    return AcceptedPush(
      token: token.lowercased(), use: use, type: type, topic: topic, priority: priority,
      expiration: expiration, apnsID: apnsID, collapseID: collapseID,
      contentType: request.value("content-type"), payload: request.payload)
  }

  private func token(in path: String) throws(APNsRefusal) -> String {
    let prefix = "/3/device/"
    guard path.hasPrefix(prefix) else { throw .badPath }
    let token = path.dropFirst(prefix.count)
    guard !token.isEmpty else { throw .missingDeviceToken }
    guard !token.contains("/") else { throw .badPath }
    return String(token)
  }

  func refuseDuplicates(_ headers: [APNsRequest.Header]) throws(APNsRefusal) {
    var seen: Set<String> = []
    for header in headers where !seen.insert(header.name).inserted { throw .duplicateHeaders }
  }

  /// Any even number of digits: that of a Live Activity had 160.
  private func checkDigits(_ token: String) throws(APNsRefusal) {
    guard token.utf8.count.isMultiple(of: 2), token.utf8.allSatisfy(\.isHexDigit) else {
      throw .badDeviceToken
    }
  }

  private func topic(_ value: String?) throws(APNsRefusal) -> String {
    guard let value, !value.isEmpty else { throw .missingTopic }
    guard value == bundleID || value == liveActivityTopic else { throw .badTopic }
    return value
  }

  private func pushType(_ value: String?) throws(APNsRefusal) -> PushType {
    guard let value, let type = PushType(rawValue: value) else { throw .invalidPushType }
    return type
  }

  func priority(_ value: String?, type: PushType) throws(APNsRefusal) -> Int {
    // Absent means 10, and 10 is an error for a background push.
    guard let priority = ["1": 1, "5": 5, "10": 10][value ?? "10"] else { throw .badPriority }
    switch type {
    case .background where priority == 10: throw .badPriority
    case .liveactivity where priority == 1: throw .badPriority
    default: return priority
    }
  }

  func expiration(_ value: String?) throws(APNsRefusal) -> PushExpiration {
    guard let value else { return .appleDecides }
    guard !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }),
      let seconds = Int64(value)
    else { throw .badExpirationDate }
    // A stamp in milliseconds lies in the year 50000 or so.
    guard seconds < 100_000_000_000 else { throw .badExpirationDate }
    return seconds == 0 ? .onceNow : .at(seconds)
  }

  private func messageID(_ value: String?) throws(APNsRefusal) -> String? {
    guard let value else { return nil }
    let groups = value.split(separator: "-", omittingEmptySubsequences: false)
    guard groups.map(\.utf8.count) == [8, 4, 4, 4, 12],
      groups.allSatisfy({ $0.utf8.allSatisfy { $0.isHexDigit && !(65...70).contains($0) } })
    else { throw .badMessageID }
    return value
  }

  private func collapseID(_ value: String?) throws(APNsRefusal) -> String? {
    guard let value else { return nil }
    guard (1...Self.collapseIDBytesMax).contains(value.utf8.count) else { throw .badCollapseID }
    return value
  }

  /// Topic, push type and the token's kind must all say the same.
  private func use(of standing: TokenStanding, topic: String, type: PushType)
    throws(APNsRefusal) -> TokenUse
  {
    let isLiveActivity = topic == liveActivityTopic
    switch standing {
    case .unknown: throw .badDeviceToken
    case .unregistered(let since): throw .unregistered(since: since)
    case .reachable(let use):
      guard isLiveActivity == (use != .alert) else { throw .deviceTokenNotForTopic }
      guard isLiveActivity == (type == .liveactivity) else { throw .deviceTokenNotForTopic }
      return use
    }
  }
}

extension UInt8 {
  fileprivate var isHexDigit: Bool {
    (48...57).contains(self) || (97...102).contains(self) || (65...70).contains(self)
  }
}

import Foundation
import HTTP2
import Vocabulary

// What Apple's two other services take: management of channels, and broadcasts to them.
// Source: research on "Sending channel management requests to APNs" and "Sending broadcast push
// notification requests to APNs", developer.apple.com.
extension World.State {
  /// Nil for a path that is none of management's.
  mutating func manage(_ request: APNsRequest, in environment: APNsEnvironment?, at now: UnixTime)
    -> HTTP2Response?
  {
    let parts = request.path.split(separator: "/").map(String.init)
    guard parts.count == 4, parts[0] == "1", parts[1] == "apps" else { return nil }
    do throws(APNsRefusal) {
      // Each call is made for itself: no connection's history forbids a new provider token.
      var history = ProviderTokenHistory()
      try fleet.rules.providerTokens.check(request.value("authorization"), on: &history, at: now)
      guard parts[2] == fleet.rules.bundleID else { throw .badTopic }
      return try manage(request.method, parts[3], request, environment)
    } catch {
      return HTTP2Response(status: error.status, body: error.body.encoded)
    }
  }

  private mutating func manage(
    _ method: String, _ what: String, _ request: APNsRequest, _ environment: APNsEnvironment?
  ) throws(APNsRefusal) -> HTTP2Response {
    switch (method, what) {
    case ("POST", "channels"):
      let body = try? JSONValue(parsing: Data(request.body))
      guard body?["push-type"] == "LiveActivity" else { throw .invalidPushType }
      guard case .integer(let policy)? = body?["message-storage-policy"], (0...1).contains(policy)
      else { throw .badRequestPayload }
      let id = try channels.create(
        storesNewest: policy == 1, in: environment, mint: &fleet.mint)
      return HTTP2Response(status: 201, headers: [("apns-channel-id", id)])
    case ("GET", "channels"):
      let (_, channel) = try channel(request, environment)
      let body: JSONValue = [
        "message-storage-policy": channel.storesNewest ? 1 : 0, "push-type": "LiveActivity",
      ]
      return HTTP2Response(status: 200, body: body.encoded)
    case ("DELETE", "channels"):
      channels.delete(try channel(request, environment).id)
      return HTTP2Response(status: 204)
    case ("GET", "all-channels"):
      let ids = channels.channels.filter { $0.value.environment == environment }.keys.sorted()
      let body: JSONValue = ["channels": .array(ids.map { .string($0) })]
      return HTTP2Response(status: 200, body: body.encoded)
    case (_, "channels"), (_, "all-channels"): throw .methodNotAllowed
    default: throw .badPath
    }
  }

  private func channel(_ request: APNsRequest, _ environment: APNsEnvironment?)
    throws(APNsRefusal) -> (id: String, ChannelBook.Channel)
  {
    guard let id = request.value("apns-channel-id"), !id.isEmpty else { throw .missingChannelID }
    guard let channel = channels.channel(id, in: environment) else { throw .channelNotRegistered }
    return (id, channel)
  }

  /// Checks one broadcast and brings it to every card that listens.
  mutating func broadcast(
    _ request: APNsRequest, on connection: inout ProviderTokenHistory,
    in environment: APNsEnvironment?, at now: UnixTime
  ) throws(APNsRefusal) -> [OwnedEffect] {
    let named = try? channel(request, environment)
    let push = try fleet.rules.acceptBroadcast(
      request, on: &connection, storesNewest: named?.1.storesNewest, at: now)
    let (id, _) = try channel(request, environment)
    channels.note(push, on: id, at: now)
    return fleet.broadcast(push, over: id, in: environment, at: now)
  }
}

extension APNsRequest {
  /// Whether it goes to a channel instead of a token.
  var isBroadcast: Bool { path.hasPrefix("/4/broadcasts/apps/") }
}

extension APNsRules {
  /// `storesNewest`: of the channel; nil when there is none.
  ///
  /// - Throws: the refusal that APNs would answer.
  func acceptBroadcast(
    _ request: APNsRequest, on connection: inout ProviderTokenHistory, storesNewest: Bool?,
    at now: UnixTime
  ) throws(APNsRefusal) -> AcceptedPush {
    guard request.method == "POST" else { throw .methodNotAllowed }
    try refuseDuplicates(request.headers)
    try providerTokens.check(request.value("authorization"), on: &connection, at: now)
    guard request.path == "/4/broadcasts/apps/\(bundleID)" else { throw .badTopic }
    guard request.value("apns-topic") == nil else { throw .topicDisallowed }
    guard request.value("apns-push-type") == "liveactivity" else { throw .invalidPushType }
    let priority = try priority(request.value("apns-priority"), type: .liveactivity)
    let expiration = try expiration(request.value("apns-expiration"))
    if storesNewest == false, expiration != .onceNow { throw .badExpirationDate }
    guard !request.body.isEmpty else { throw .payloadEmpty }
    guard request.body.count <= Self.payloadBytesMax else { throw .payloadTooLarge }
    return AcceptedPush(
      token: "", use: .update, type: .liveactivity, topic: liveActivityTopic, priority: priority,
      expiration: expiration, apnsID: request.value("apns-request-id"), collapseID: nil,
      contentType: request.value("content-type"), payload: request.payload, isBroadcast: true)
  }
}

import Vocabulary

/// The broadcast channels that the stand-in for Apple keeps.
package struct ChannelBook: Hashable, Sendable {
  /// Apple's limit of one app in one environment.
  package static let channelsMax = 10_000

  struct Channel: Hashable, Sendable {
    /// Nil when one port serves both environments.
    let environment: APNsEnvironment?
    let storesNewest: Bool
    /// What it keeps for phones that are away.
    var newest: AcceptedPush?
    /// How many broadcasts it took.
    var broadcasts = 0
  }

  private(set) var channels: [String: Channel] = [:]
  private var made = 0

  package init() {}

  func channel(_ id: String, in environment: APNsEnvironment?) -> Channel? {
    guard let channel = channels[id], channel.environment == environment else { return nil }
    return channel
  }

  /// - Throws: the refusal that Apple would answer.
  mutating func create(
    storesNewest: Bool, in environment: APNsEnvironment?, mint: inout TokenMint
  ) throws(APNsRefusal) -> String {
    guard channels.values.count(where: { $0.environment == environment }) < Self.channelsMax else {
      throw .cannotCreateChannel
    }
    made += 1
    // Opaque base64 of no known length; Apple's end with padding as these do.
    let id = "\(mint.hex(digits: 20))+/\(made)=="
    channels[id] = Channel(environment: environment, storesNewest: storesNewest)
    return id
  }

  mutating func delete(_ id: String) { channels[id] = nil }

  mutating func note(_ push: AcceptedPush, on id: String, at now: UnixTime) {
    channels[id]?.broadcasts += 1
    guard channels[id]?.storesNewest == true, push.isDeliverable(at: now) else { return }
    channels[id]?.newest = push
  }
}

extension APNsRefusal {
  static let badChannelID = APNsRefusal(400, "BadChannelId")
  static let badRequestPayload = APNsRefusal(400, "BadRequestPayload")
  static let cannotCreateChannel = APNsRefusal(400, "CannotCreateChannelConfig")
  static let channelNotRegistered = APNsRefusal(400, "ChannelNotRegistered")
  static let missingChannelID = APNsRefusal(400, "MissingChannelId")
  static let topicDisallowed = APNsRefusal(400, "TopicDisallowed")
}

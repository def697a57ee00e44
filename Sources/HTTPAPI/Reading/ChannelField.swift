import Activities
import Pipeline
import Pushes
import Vocabulary

// The channel that the cards of an activity are to listen to.
extension BodyReader {
  /// `"create"`, or an object: with `id` one that is there, else a new one.
  mutating func optionalChannel(now: UnixTime) -> ActivityChannel? {
    guard let value = optional("channel") else { return nil }
    if case .string(let word) = value {
      if word == "create" { return ActivityChannel(id: nil, at: now) }
      refuse("channel", "is \"\(word.prefix(40))\", want \"create\" or an object with an id")
      return nil
    }
    guard var channel = object("channel") else { return nil }
    let id = channel.optionalText("id", max: Activity.channelIDBytesMax)
    if let id, id.utf8.contains(where: { !(33...126).contains($0) }) {
      channel.refuse("id", "holds other characters than APNs gives")
    }
    let storage = channel.optionalWord(
      "storage", among: ActivityChannel.Storage.allCases.map(\.rawValue)
    ) { ActivityChannel.Storage(rawValue: $0) }
    if id != nil, storage != nil {
      channel.refuse("storage", "of a channel that is there never changes; leave it out")
    }
    let environment = channel.optionalWord(
      "environment", among: ActivityChannel.Environment.allCases.map(\.rawValue)
    ) { ActivityChannel.Environment(rawValue: $0) }
    let bundleID = channel.optionalText("bundle_id", max: BundleID.charactersMax)
    adopt(channel)
    return ActivityChannel(
      id: id, storage: storage ?? .newest, environment: environment ?? .production,
      bundleID: bundleID, at: now)
  }
}

extension API {
  /// Cards of two activities on one channel would show each other's states.
  ///
  /// - Throws: 422 when a live activity uses it.
  func checkChannel(
    _ channel: ActivityChannel?, of key: ActivityKey, _ rows: any StoreTransaction
  ) throws {
    guard let id = channel?.id else { return }
    let token: PushToken
    do throws(PushTokenError) {
      token = try PushToken(spelling: id)
    } catch {
      throw Problem.invalidField("channel", "id \(error)")
    }
    for row in try rows.registrations(of: [token])[token] ?? [] {
      guard let other = row.contextKey.flatMap(ActivityState.activityKey(ofChannel:)),
        other != key, try rows.activity(other)?.state == .live
      else { continue }
      throw Problem.invalidField("channel", "is that of the live activity \(other)")
    }
  }
}

import Pushes

/// Apple's management of broadcast channels. One instance belongs to one thread; a call waits for
/// its answer.
package protocol ChannelService: AnyObject {
  /// - Returns: the new channel's id.
  func create(storingNewest: Bool, in app: ChannelApp) -> ChannelAnswer<String>
  /// - Returns: whether the channel stores the newest broadcast.
  func read(_ id: String, in app: ChannelApp) -> ChannelAnswer<Bool>
  /// It cannot be taken back.
  func delete(_ id: String, in app: ChannelApp) -> ChannelAnswer<Void>
  /// - Returns: the ids of all channels.
  func list(in app: ChannelApp) -> ChannelAnswer<[String]>
}

/// Which app's channels, in which of Apple's services: neither is shared.
package struct ChannelApp: Hashable, Sendable {
  package let bundleID: String
  package let environment: PushEnvironment

  package init(bundleID: String, environment: PushEnvironment) {
    self.bundleID = bundleID
    self.environment = environment
  }
}

package enum ChannelAnswer<Value> {
  case done(Value)
  case refused(status: Int, reason: String)
  /// No answer that can be read: what was asked for may have been done.
  case unanswered(because: String)
}

import HTTP2
import Pushes

/// The connections of one environment that carry one kind of token, and what waits for them.
final class ConnectionGroup {
  enum Purpose: String, CaseIterable {
    /// Tokens that APNs accepted before.
    case proven
    /// Tokens never yet accepted: their refusals slow only each other.
    case probation
  }

  let environment: PushEnvironment
  let purpose: Purpose
  /// How to reach APNs; nil with ``problem`` when the settings do not tell.
  let client: HTTP2Client.Settings?
  /// How many connections at most take requests at once.
  let wanted: Int
  var connections: [APNsConnection] = []
  var waiting = WaitingLine()
  private var delay: ReconnectDelay
  private(set) var nextConnectAt = Duration.zero
  /// Why the last connection ended; nil while all is well.
  private(set) var problem: String?

  init(environment: PushEnvironment, purpose: Purpose, settings: APNsTransportSettings) {
    self.environment = environment
    self.purpose = purpose
    // One below the cap, or the probation connection would never find a place.
    wanted =
      purpose == .probation
      ? 1 : max(1, min(settings.connectionsPerEnvironment, settings.connectionsMax - 1))
    delay = ReconnectDelay(
      least: settings.reconnectDelayLeast, most: settings.reconnectDelayMost)
    do {
      client = try settings.client(for: environment)
    } catch {
      client = nil
      problem = error.description
    }
  }

  /// Connections fail, and none is left that takes requests.
  var isAway: Bool {
    delay.failures > 0 && !connections.contains { $0.isUsable && $0.client.takesRequests }
  }

  func room(now: Duration, streamsMax: Int) -> Int {
    connections.reduce(0) { $0 + $1.room(now: now, streamsMax: streamsMax) }
  }

  /// `room` is how many more requests the present connections take.
  func wantsConnection(now: Duration, room: Int) -> Bool {
    guard client != nil, now >= nextConnectAt, (waiting.count > 0 && room == 0) || isAway,
      !connections.contains(where: \.isComing)
    else { return false }
    return connections.count(where: \.isUsable) < wanted
  }

  func accepted() {
    delay.succeeded()
    problem = nil
  }

  func failed(because reason: String, now: Duration) {
    problem = reason
    nextConnectAt = now + delay.failed(chance: .random(in: 0...1))
  }

  /// Takes an ended connection out, and notes what its end means for the next one.
  func remove(_ connection: APNsConnection, because reason: String, now: Duration) {
    connections.removeAll { $0 === connection }
    let cameToNothing =
      !connection.hasAccepted && (connection.hasCarried || !connection.client.hasOpened)
    if cameToNothing, !connection.isExcused {
      failed(because: connection.retired ?? reason, now: now)
    } else if connection.retired == nil {
      problem = reason
    }
  }

  func close() {
    waiting.removeAll()
    connections.removeAll()
  }
}

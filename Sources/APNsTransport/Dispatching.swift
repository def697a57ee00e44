import Foundation
import HTTP2
import Pipeline
import Pushes
import ServiceRuntime
import Vocabulary

// The way out: connections are opened as they are needed and filled as far as they allow.
extension APNsTransport {
  /// Lets the group's connections read and write, and takes out those that ended.
  func exchange(_ group: ConnectionGroup) {
    for connection in group.connections {
      connection.client.advance(now: now)
      if connection.retired != nil, connection.client.openStreams == 0 {
        connection.client.close()
      } else if connection.wantsPing(now: now, settings: settings) {
        connection.client.ping(now: now)
      }
      if let reason = connection.client.ended { remove(connection, of: group, because: reason) }
    }
  }

  func showConnections() {
    metrics.present.set(Double(groups.reduce(0) { $0 + $1.connections.count }))
  }

  private func remove(
    _ connection: APNsConnection, of group: ConnectionGroup, because reason: String
  ) {
    group.remove(connection, because: reason, now: now)
    metrics.ended.add()
    showConnections()
    log.info(
      "apns_connection_ended",
      [
        "connection": "\(connection.number)", "environment": group.environment.rawValue,
        "purpose": group.purpose.rawValue, "because": connection.retired ?? reason,
      ])
  }

  func dispatch(_ group: ConnectionGroup) {
    for connection in group.connections {
      var room = connection.room(now: now, streamsMax: settings.streamsMax)
      guard room > 0, group.waiting.count > 0 else { continue }
      renewToken(of: connection)
      guard connection.isUsable else { continue }
      while room > 0, let id = group.waiting.popFirst() {
        guard flights.isLive(id) else { continue }
        if submit(id, on: connection, of: group) { room -= 1 }
      }
      connection.client.flush()
    }
    if group.waiting.count > 0 || group.isAway { openIfWanted(group) }
  }

  /// - Returns: whether it takes a stream.
  private func submit(
    _ id: FlightID, on connection: APNsConnection, of group: ConnectionGroup
  ) -> Bool {
    let request = flights[id.slot].request
    if let deadline = request.deadline, time.now() >= deadline {
      settle(slot: id.slot, .neverProcessed(because: "its deadline \(deadline) has passed"))
      return false
    }
    RequestHeaders.write(
      request, authority: connection.client.authority, token: connection.token, into: writer)
    guard let stream = connection.client.submit(writer, body: request.body, tag: id.slot) else {
      connection.retire(because: "no further stream")
      group.waiting.giveBack(id)
      return true
    }
    connection.carries(now: now)
    flights.submitted(slot: id.slot, on: connection, stream: stream, now: now)
    return true
  }

  /// A connection keeps its token until that is due; then it takes the present one. Once that is
  /// of another key it takes no more: tokens of two keys never share a connection.
  private func renewToken(of connection: APNsConnection) {
    let isDue = now >= connection.token.refreshAt
    guard isDue || now >= connection.nextKeyLookAt else { return }
    connection.nextKeyLookAt = now + KeyFile.lookInterval
    do {
      let token = try tokens.token()
      if token.keyID != connection.token.keyID {
        connection.retire(because: "another key", isExcused: true)
      } else if isDue {
        connection.token = token
      }
    } catch {
      // The old token is good for ten more minutes: time for another try or two.
      if isDue { connection.token = connection.token.kept(until: now + .seconds(60)) }
      log.error("provider_token_not_signed", ["because": "\(error)"])
    }
  }

  private func openIfWanted(_ group: ConnectionGroup) {
    let room = group.room(now: now, streamsMax: settings.streamsMax)
    guard group.wantsConnection(now: now, room: room), let client = group.client else { return }
    let open = groups.reduce(0) {
      $0 + ($1.environment == group.environment ? $1.connections.count : 0)
    }
    guard open < settings.connectionsMax else { return }
    do {
      let token = try tokens.token()
      connectionsMade += 1
      let connection = APNsConnection(
        number: connectionsMade,
        client: HTTP2Client(
          settings: client, tls: tls, resolver: resolver, owner: self, now: now),
        token: token, now: now)
      group.connections.append(connection)
      metrics.opened.add()
      showConnections()
      log.info(
        "apns_connection_begun",
        [
          "connection": "\(connection.number)", "environment": group.environment.rawValue,
          "purpose": group.purpose.rawValue, "server": "\(client.host):\(client.port)",
        ])
      connection.client.advance(now: now)
    } catch {
      group.failed(because: "no provider token: \(error)", now: now)
      log.error("provider_token_not_signed", ["because": "\(error)"])
    }
  }
}

import Foundation
import HTTP2
import Pipeline
import Pushes
import ServiceRuntime

// The way back: each request's end, and what it means for the connection that carried it.
extension APNsTransport: HTTP2ClientOwner {
  package func answered(tag: Int, status: Int, headers: HeaderBlock, body: Data) {
    let answer = reader.read(status: status, headers: headers, body: body) { time.now() }
    let flight = flights[tag]
    if let connection = flight.connection {
      connection.answered(now: now, isAccepted: status == 200)
      if status == 200 {
        group(of: flight.request).accepted()
      } else {
        refused(answer, on: connection)
      }
    }
    settle(slot: tag, .answered(answer))
  }

  private func refused(_ answer: PushAnswer, on connection: APNsConnection) {
    switch (answer.status, answer.reason) {
    case (403, "ExpiredProviderToken"):
      let hasNext = tokens.expired(generation: connection.token.generation)
      connection.retire(because: "ExpiredProviderToken", isExcused: hasNext)
    case (429, "TooManyProviderTokenUpdates"):
      connection.park(until: now + settings.parkTime)
    // A key that APNs refuses is refused for the whole life of a connection.
    case (403, _), (400, "IdleTimeout"), (500, _), (503, _):
      connection.retire(because: "\(answer.status) \(answer.reason ?? "")")
    default: break
    }
  }

  /// Sent again at once on whatever connection has room: no other copy of it exists.
  package func neverProcessed(tag: Int, because reason: String) {
    guard flights[tag].resends < settings.resendsMax else {
      return settle(slot: tag, .neverProcessed(because: reason))
    }
    flights.returned(slot: tag)
    metrics.resent.add()
    group(of: flights[tag].request).waiting.giveBack(flights.id(slot: tag))
  }

  package func unanswered(tag: Int, because reason: String) {
    settle(slot: tag, .unanswered(because: reason))
  }
}

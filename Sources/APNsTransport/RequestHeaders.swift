import HTTP2
import Pipeline
import Pushes

/// Writes a push's header fields as APNs wants them (developer.apple.com, "Sending notification
/// requests to APNs").
enum RequestHeaders {
  static func write(
    _ request: PushRequest, authority: String, token: ProviderToken, into writer: HeaderWriter
  ) {
    writer.removeAll()
    writer.append(":method", "POST")
    writer.append(":scheme", "https")
    writer.append(":authority", authority)
    if let broadcast = request.broadcast {
      writer.append(":path", prefix: "/4/broadcasts/apps/", broadcast.bundleID)
    } else {
      writer.append(":path", prefix: "/3/device/", request.token.hex)
    }
    writer.append("authorization", token.authorization)
    writer.append("content-type", "application/json")
    writer.append("content-length", String(request.body.count))
    if let broadcast = request.broadcast {
      writer.append("apns-channel-id", broadcast.channelID, isVaried: true)
      // What Apple calls the id of a request to a channel.
      writer.append("apns-request-id", request.apnsID, isVaried: true)
    } else {
      writer.append("apns-topic", request.topic)
    }
    writer.append("apns-push-type", request.pushType)
    writer.append("apns-priority", String(request.priority))
    if let expiration = request.expiration {
      writer.append("apns-expiration", String(expiration), isVaried: expiration != 0)
    }
    if let collapseID = request.collapseID {
      writer.append("apns-collapse-id", collapseID, isVaried: true)
    }
    writer.append("apns-id", request.apnsID, isVaried: true)
  }
}

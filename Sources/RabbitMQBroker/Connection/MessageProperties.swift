import CRabbitMQ
import Foundation
import Pipeline
import Vocabulary

extension AMQPPool {
  /// The properties of a persistent message. Valid until ``recycle()``.
  func properties(of message: Message) -> amqp_basic_properties_t {
    var properties = amqp_basic_properties_t()
    properties._flags =
      UInt32(AMQP_BASIC_DELIVERY_MODE_FLAG) | UInt32(AMQP_BASIC_MESSAGE_ID_FLAG)
      | UInt32(AMQP_BASIC_TYPE_FLAG) | UInt32(AMQP_BASIC_CONTENT_TYPE_FLAG)
    properties.delivery_mode = UInt8(AMQP_DELIVERY_PERSISTENT.rawValue)
    properties.message_id = bytes(message.id)
    properties.type = bytes(message.type)
    properties.content_type = bytes(message.contentType)
    if let timestamp = message.timestamp {
      properties._flags |= UInt32(AMQP_BASIC_TIMESTAMP_FLAG)
      properties.timestamp = UInt64(clamping: timestamp.seconds)
    }
    if !message.headers.isEmpty {
      properties._flags |= UInt32(AMQP_BASIC_HEADERS_FLAG)
      properties.headers = table(of: message.headers)
    }
    return properties
  }
}

extension Message {
  /// Copies the properties; what the sender left out reads as empty.
  init(_ properties: amqp_basic_properties_t, body: Data) {
    func text(_ flag: Int32, _ bytes: amqp_bytes_t) -> String {
      properties._flags & UInt32(flag) == 0 ? "" : String(bytes)
    }
    let flags = properties._flags
    self.init(
      id: text(AMQP_BASIC_MESSAGE_ID_FLAG, properties.message_id),
      type: text(AMQP_BASIC_TYPE_FLAG, properties.type),
      contentType: text(AMQP_BASIC_CONTENT_TYPE_FLAG, properties.content_type),
      headers: flags & UInt32(AMQP_BASIC_HEADERS_FLAG) == 0 ? [:] : .init(properties.headers),
      body: body,
      timestamp: flags & UInt32(AMQP_BASIC_TIMESTAMP_FLAG) == 0
        ? nil : UnixTime(seconds: Int64(clamping: properties.timestamp)))
  }

  /// Why the protocol cannot carry it; nil when it can.
  func misfit(exchange: String, routingKey: String, limits: BrokerLimits) -> String? {
    let long =
      tooLong("message_id", id) ?? tooLong("type", type) ?? tooLong("content_type", contentType)
      ?? tooLong("exchange", exchange) ?? tooLong("routing key", routingKey)
    if let long { return long }
    var size = 0
    for (name, value) in headers {
      if let long = tooLong("header name", name) { return long }
      size += name.utf8.count + 10
      if case .text(let text) = value { size += text.utf8.count - 4 }
    }
    if size > limits.headers_bytes {
      return "headers have \(size) bytes, at most \(limits.headers_bytes) are wanted"
    }
    if body.count > limits.body_bytes {
      return "body has \(body.count) bytes, at most \(limits.body_bytes) are wanted"
    }
    return nil
  }

  private func tooLong(_ name: StaticString, _ text: String) -> String? {
    guard text.utf8.count > 255 else { return nil }
    return "\(name) has \(text.utf8.count) bytes, at most 255 are wanted"
  }
}

extension BrokerEvent.Arrival {
  /// What our own headers on a copy may take: where it came from, and why it failed.
  private static let ownHeaders_bytes = 4096

  /// Why no copy of it could be published, to wait or to be dead: nobody could ever settle it. Nil
  /// for nearly all.
  func misfit(_ limits: BrokerLimits) -> String? {
    guard body_bytes <= limits.body_bytes else {
      return "body has \(body_bytes) bytes, at most \(limits.body_bytes) are wanted"
    }
    var limits = limits
    limits.headers_bytes -= Self.ownHeaders_bytes
    return message.misfit(exchange: "", routingKey: "", limits: limits)
  }
}

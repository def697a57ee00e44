import CRabbitMQ
import Foundation
import Pipeline

/// One thing that the broker said unasked.
enum BrokerEvent {
  /// A message of the queue, complete.
  case delivered(Arrival)
  case returned(ConfirmWindow.Key, because: String)
  case confirmed(UInt64, multiple: Bool)
  case refused(UInt64, multiple: Bool)
  /// The queue is gone, or its leader is.
  case consumerCancelled
  case blocked(because: String)
  case unblocked

  struct Arrival {
    let tag: UInt64
    let redelivered: Bool
    let exchange: String
    let routingKey: String
    let message: Message
    /// How long its body is; what lies beyond the connection's limit is not in ``message``.
    let body_bytes: UInt64
    /// Why the broker itself moved it here; nil when a publisher did.
    let death: BrokerDeath?
  }

  /// Nil for methods that bring content, and for those that mean nothing to us.
  init?(_ method: amqp_method_t) {
    switch method.id {
    case AMQP_BASIC_ACK_METHOD:
      let ack = method.decoded.load(as: amqp_basic_ack_t.self)
      self = .confirmed(ack.delivery_tag, multiple: ack.multiple != 0)
    case AMQP_BASIC_NACK_METHOD:
      let nack = method.decoded.load(as: amqp_basic_nack_t.self)
      self = .refused(nack.delivery_tag, multiple: nack.multiple != 0)
    case AMQP_BASIC_CANCEL_METHOD: self = .consumerCancelled
    case AMQP_CONNECTION_BLOCKED_METHOD:
      let blocked = method.decoded.load(as: amqp_connection_blocked_t.self)
      self = .blocked(because: String(blocked.reason))
    case AMQP_CONNECTION_UNBLOCKED_METHOD: self = .unblocked
    default: return nil
    }
  }
}

/// Puts a delivered or returned message together: method, header, then body frames.
struct ContentAssembly {
  private enum Start {
    case deliver(tag: UInt64, redelivered: Bool, exchange: String, routingKey: String)
    case returned(exchange: String, routingKey: String, because: String)
  }

  private var start: Start?
  private var message: Message?
  private var death: BrokerDeath?
  private var missing_bytes: UInt64 = 0
  private var body_bytes: UInt64 = 0

  /// Of a body more is passed over.
  var body_bytes_max = Int.max

  mutating func begin(_ method: amqp_method_t) {
    message = nil
    switch method.id {
    case AMQP_BASIC_DELIVER_METHOD:
      let deliver = method.decoded.load(as: amqp_basic_deliver_t.self)
      start = .deliver(
        tag: deliver.delivery_tag, redelivered: deliver.redelivered != 0,
        exchange: String(deliver.exchange), routingKey: String(deliver.routing_key))
    case AMQP_BASIC_RETURN_METHOD:
      let returned = method.decoded.load(as: amqp_basic_return_t.self)
      start = .returned(
        exchange: String(returned.exchange), routingKey: String(returned.routing_key),
        because: "\(returned.reply_code) \(String(returned.reply_text))")
    default: start = nil
    }
  }

  /// - Returns: the event, once its last frame is in.
  mutating func take(_ frame: amqp_frame_t) -> BrokerEvent? {
    guard start != nil else { return nil }
    if Int32(frame.frame_type) == AMQP_FRAME_HEADER {
      let header = frame.payload.properties
      missing_bytes = header.body_size
      body_bytes = header.body_size
      let properties = header.decoded.load(as: amqp_basic_properties_t.self)
      var body = Data()
      body.reserveCapacity(Int(clamping: min(header.body_size, 1 << 20)))
      message = Message(properties, body: body)
      death = BrokerDeath(properties)
    } else {
      let fragment = frame.payload.body_fragment
      let room = max(0, body_bytes_max - (message?.body.count ?? 0))
      message?.body.append(
        contentsOf: UnsafeRawBufferPointer(start: fragment.bytes, count: fragment.len).prefix(room))
      missing_bytes -= min(UInt64(fragment.len), missing_bytes)
    }
    return missing_bytes == 0 ? finished() : nil
  }

  private mutating func finished() -> BrokerEvent? {
    guard let start, let message else { return nil }
    self.start = nil
    self.message = nil
    switch start {
    case .deliver(let tag, let redelivered, let exchange, let routingKey):
      return .delivered(
        BrokerEvent.Arrival(
          tag: tag, redelivered: redelivered, exchange: exchange, routingKey: routingKey,
          message: message, body_bytes: body_bytes, death: death))
    case .returned(let exchange, let routingKey, let reason):
      let key = ConfirmWindow.Key(
        messageID: message.id, exchange: exchange, routingKey: routingKey)
      return .returned(key, because: reason)
    }
  }
}

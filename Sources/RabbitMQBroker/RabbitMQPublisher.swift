import Pipeline
import ServiceRuntime

/// Publishes to RabbitMQ, persistent and mandatory, and counts only what the broker confirmed.
/// Owned by one thread. ``open()`` tries once; when to try again is the caller's business.
package final class RabbitMQPublisher: Publisher {
  private let channel: PublishingChannel
  /// Sent before the broker held us back, with their numbers: their answers may still come.
  private var held: [(message: OutgoingMessage, number: UInt64)] = []

  /// `name` is how the connection is called in the broker's lists.
  package init(
    _ address: BrokerAddress, name: String, limits: BrokerLimits = BrokerLimits(),
    time: any TimeSource, log: Log
  ) {
    channel = PublishingChannel(address, name: name, limits: limits, time: time, log: log)
  }

  package var isBlocked: Bool { channel.blockedBecause != nil }

  /// Of the open connection; nil without one.
  var descriptor: Int32? { channel.descriptor }

  package func open() throws(BrokerLost) {
    guard channel.descriptor == nil else { return }
    held = []
    try channel.open()
  }

  package func close() { channel.close() }

  package func keepAlive() throws(BrokerLost) { try channel.keepAlive() }

  package func publish(_ messages: [OutgoingMessage]) throws(BrokerLost) -> [PublishOutcome] {
    try channel.keepAlive()
    if let reason = channel.blockedBecause { return messages.map { _ in .held(because: reason) } }
    var outcomes: [PublishOutcome?] = Array(repeating: nil, count: messages.count)
    var (places, unsent) = placesOfHeld(in: messages)
    while true {
      let numbers = try channel.send(unsent.lazy.map { messages[$0] })
      for (place, number) in zip(unsent, numbers) { places[number] = place }
      unsent.removeFirst(numbers.count)
      for answer in channel.takeAnswers() {
        if let place = places.removeValue(forKey: answer.number) {
          outcomes[place] = answer.outcome
        }
      }
      if (places.isEmpty && unsent.isEmpty) || isBlocked { break }
      try channel.wait()
    }
    held = places.map { (messages[$0.value], $0.key) }
    let reason = channel.blockedBecause ?? "alarm"
    return outcomes.map { $0 ?? .held(because: reason) }
  }

  /// Which of the messages were sent already, by number, and the places of those that were not.
  /// Only the next publish is told: a later message that is equal is another one.
  private func placesOfHeld(in messages: [OutgoingMessage]) -> ([UInt64: Int], [Int]) {
    defer { held = [] }
    // Asked of an empty one, a dictionary still hashes the whole message.
    guard !held.isEmpty else { return ([:], Array(messages.indices)) }
    var known = Dictionary(held.map { ($0.message, $0.number) }) { first, _ in first }
    var places: [UInt64: Int] = [:]
    var unsent: [Int] = []
    for place in messages.indices {
      if let number = known.removeValue(forKey: messages[place]) {
        places[number] = place
      } else {
        unsent.append(place)
      }
    }
    return (places, unsent)
  }
}

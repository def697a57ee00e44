import Foundation
import Pipeline
import Pushes
import RabbitMQBroker
import ServiceRuntime
import Sessions
import Vocabulary

/// The events that every worker of the comparison is given, and the tokens that make two jobs of
/// each.
struct BuildEvents {
  /// How many sessions the events are about, in turn.
  static let sessions = 1000
  /// Of one publish, confirmed together.
  private static let window = 500
  /// How often messages are offered again to a broker that holds its publishers, each half second.
  private static let heldMax = 240
  private static let limits = SessionLimits(ttl: .seconds(7200))

  /// Puts events `numbers` into the builder's queue; those before them count as published.
  static func publish(_ numbers: Range<Int>, to address: BrokerAddress, _ topology: Topology) throws
  {
    var all = try (0..<sessions).map(first)
    func advance(to number: Int) throws -> Change {
      let place = number % sessions
      if number >= sessions { all[place] = try next(all[place]) }
      return all[place]
    }
    // Before the connection is there: nothing keeps it alive meanwhile.
    for number in 0..<numbers.lowerBound { _ = try advance(to: number) }
    let publisher = RabbitMQPublisher(
      address, name: "bench-filler", time: SystemTime(), log: .discarding)
    try publisher.open()
    let route = topology.routes[.build]
    var waiting: [OutgoingMessage] = []
    for number in numbers {
      let message = event(try advance(to: number)).message
      waiting.append(
        OutgoingMessage(exchange: route.exchange, routingKey: route.routingKey, message: message))
      guard waiting.count == window || number + 1 == numbers.upperBound else { continue }
      for attempt in 0... {
        let outcomes = try publisher.publish(waiting)
        waiting = zip(waiting, outcomes).filter { $1 != .confirmed }.map(\.0)
        guard let other = outcomes.first(where: { $0 != .confirmed }) else { break }
        // A broker that is low on memory takes them once a worker has made room.
        guard case .held = other, attempt < heldMax else {
          throw TransportBench.Refused(
            description: "up to event \(number) the queue did not take all: \(other)")
        }
        Poll.wait([], atMost: .milliseconds(500))
      }
    }
    publisher.close()
  }

  /// Both participants of every session have a card.
  static func registerTokens(in store: any Store) throws {
    let now = SystemTime().now()
    try store.write { transaction in
      for place in 0..<sessions {
        let session = try first(place).session
        for (number, user) in session.participants.map(\.userID).enumerated() {
          try transaction.register(
            Registration(
              userID: user, token: Pushing.token(place * 2 + number), kind: .update,
              contextKey: session.contextKey(for: user), registeredAt: now, provenAt: now))
        }
      }
    }
  }

  private static func first(_ place: Int) throws -> Change {
    try Session.create(
      id: SessionID("cs_bench_\(place)"), date: "2030-01-31",
      initiator: Profile(userID: UserID("dennis-\(place)"), name: "Dennis"),
      partner: Profile(userID: UserID("jaqueline-\(place)"), name: "Jaqueline"),
      at: SystemTime().now(), limits: limits)
  }

  private static func next(_ change: Change) throws -> Change {
    let session = change.session
    let answered = try session.apply(
      .answer, by: session.participants.first?.userID, at: SystemTime().now(),
      newJobID: JobID("bench"), limits: limits)
    return answered ?? change
  }

  private static func event(_ change: Change) -> OutboxEvent {
    Event.outboxEntry(
      for: change, id: EventID("\(change.session.id)-\(change.session.rev)"),
      at: SystemTime().now(), traceparent: nil)
  }
}

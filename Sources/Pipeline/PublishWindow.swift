/// What settled deliveries cause, from then until the broker has confirmed it: messages to be sent,
/// sent and not answered for, and refused, which are sent again after a wait. Pure: the worker
/// sends and listens.
///
/// A delivery comes out, to be acknowledged, once the last of its messages is confirmed, in
/// whatever order the broker answers. So the next batch is worked on while answers are outstanding.
package struct PublishWindow {
  /// How long a message that the broker refused or returned waits before it is sent again.
  package static let refusedWait: Duration = .milliseconds(500)
  /// Messages handed over at once, at most.
  private static let nextMax = 500

  private struct Letter {
    /// The delivery that it belongs to; nil for a message of a connection before.
    let origin: DeliveryTag?
    let message: OutgoingMessage
    /// A delivery that comes again does not bring it again.
    let isOwed: Bool
  }

  private struct Origin {
    let settlement: Settlement
    var unconfirmed: Int
  }

  private var origins: [DeliveryTag: Origin] = [:]
  private var unsent: [Letter] = []
  private var sent: [UInt64: Letter] = [:]
  private var refused: [(until: Duration, letter: Letter)] = []
  /// Messages that belong to no delivery of this connection.
  private var ownerless = 0

  package init() {}

  /// How many deliveries, and messages of none, it holds.
  package var count: Int { origins.count + ownerless }

  /// In the order the broker gave them.
  package var deliveries: [Delivery] {
    origins.values.map(\.settlement.delivery).sorted { $0.tag.number < $1.tag.number }
  }

  /// Adds a delivery and the messages that it waits for, at least one.
  ///
  /// `owing`: of what the stage returned nothing comes again when the connection is lost; a copy of
  /// the delivery itself does.
  package mutating func add(
    _ settlement: Settlement, _ messages: [OutgoingMessage], owing: Bool
  ) {
    let (tag, caused) = (settlement.delivery.tag, settlement.outgoing.count)
    origins[tag] = Origin(settlement: settlement, unconfirmed: messages.count)
    for (place, message) in messages.enumerated() {
      unsent.append(Letter(origin: tag, message: message, isOwed: owing && place < caused))
    }
  }

  /// Adds messages that no delivery waits for.
  package mutating func add(owed messages: [OutgoingMessage]) {
    unsent += messages.map { Letter(origin: nil, message: $0, isOwed: true) }
    ownerless += messages.count
  }

  /// What to send next, in this order; refused ones are among them once they have waited.
  package mutating func next(at moment: Duration) -> [OutgoingMessage] {
    let due = refused.prefix { $0.until <= moment }
    refused.removeFirst(due.count)
    unsent += due.map(\.letter)
    return unsent.prefix(Self.nextMax).map(\.message)
  }

  /// The first of ``next(at:)`` went out, with these numbers.
  package mutating func sent(_ numbers: Range<UInt64>) {
    for (number, letter) in zip(numbers, unsent) { sent[number] = letter }
    unsent.removeFirst(numbers.count)
  }

  /// A message that the broker did not take.
  package struct Refusal {
    /// Nil for one of a connection before.
    package let delivery: Delivery?
    package let outcome: PublishOutcome
  }

  /// Takes the broker's answers, heard at `moment`. Those to messages that are not known mean
  /// nothing.
  ///
  /// - Returns: the deliveries of which all messages are confirmed now, and what was refused.
  package mutating func answered(_ answers: [PublishAnswer], at moment: Duration)
    -> (confirmed: [Settlement], refused: [Refusal])
  {
    var (confirmed, refusals): ([Settlement], [Refusal]) = ([], [])
    for answer in answers {
      guard let letter = sent.removeValue(forKey: answer.number) else { continue }
      guard answer.outcome == .confirmed else {
        refused.append((moment + Self.refusedWait, letter))
        let delivery = letter.origin.flatMap { origins[$0]?.settlement.delivery }
        refusals.append(Refusal(delivery: delivery, outcome: answer.outcome))
        continue
      }
      guard let tag = letter.origin else {
        ownerless -= 1
        continue
      }
      origins[tag]?.unconfirmed -= 1
      guard origins[tag]?.unconfirmed == 0 else { continue }
      if let origin = origins.removeValue(forKey: tag) { confirmed.append(origin.settlement) }
    }
    return (confirmed, refusals)
  }

  /// The connection is lost, and nothing more will be heard of what was sent: its deliveries come
  /// again. Only what they do not bring again is kept, to be sent once more.
  package mutating func lost() {
    let letters = sent.sorted { $0.key < $1.key }.map(\.value) + refused.map(\.letter) + unsent
    self = PublishWindow()
    add(owed: letters.filter(\.isOwed).map(\.message))
  }
}

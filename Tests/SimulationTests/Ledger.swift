import Pipeline
import Pushes
import Vocabulary

/// What was accepted and what became of it, in the style of a Jepsen checker: written down by the
/// ports, outside of what is tested.
final class Ledger {
  struct Place: Hashable {
    let stage: StageName
    let message: String
  }

  /// One card on one Android phone.
  struct FCMPlace: Hashable {
    /// Its fingerprint.
    let token: String
    let context: ContextKey
  }

  /// One start on its way to one phone.
  struct StartPlace: Hashable {
    let session: SessionID
    let token: PushToken
  }

  /// One notification in one browser.
  struct WebPushPlace: Hashable {
    /// Its subscription's fingerprint.
    let browser: String
    let topic: String
  }

  /// Every event that was committed into the outbox, oldest first.
  private(set) var events: [OutboxEvent] = []
  /// How often each message was settled for good, and as what.
  private(set) var ends: [Place: [Disposition]] = [:]
  /// When the acceptance of a job was committed first.
  private(set) var acceptedAt: [String: Int] = [:]
  /// What was given up because its deadline had passed.
  private(set) var expired: [Message] = []
  var expiredTypes: Set<String> { Set(expired.map(\.type)) }
  /// Every message that the broker has taken.
  private var stored: Set<Stored> = []
  /// Until when a start is held, by the clock of who holds it.
  private var held: [StartPlace: UnixTime] = [:]
  private var fcmAcceptedAt: [FCMPlace: [Int: Int]] = [:]
  private var webPushAcceptedAt: [WebPushPlace: Int] = [:]
  /// When a notification's end was committed first, by its topic.
  private var resolvedAt: [String: Int] = [:]
  /// What must never happen, noticed when it did.
  private(set) var violations: [String] = []
  /// Rises with each commit.
  private(set) var moment = 0

  func committed(_ transaction: RecordingTransaction, by kind: ProcessKind) {
    moment += 1
    events += transaction.events
    for record in transaction.deliveries where record.status == 200 {
      acceptedAt[record.jobID] = acceptedAt[record.jobID] ?? moment
    }
    for record in transaction.deliveries { noteOtherPhones(record) }
    // Who holds a start and has no answer to record is about to send it.
    let isToSend = transaction.deliveries.isEmpty
    for hold in transaction.holds { note(hold.until, of: hold.place, isToSend: isToSend) }
    for place in transaction.forgotten { fcmAcceptedAt[place] = nil }
    for key in transaction.resolved {
      let topic = WebPushTopic.of(key)
      resolvedAt[topic] = resolvedAt[topic] ?? moment
    }
  }

  /// How long a start is held to be sent, and what clocks may differ by.
  private static let startHeld: Duration = .seconds(30)
  private static let clocksDifferMax: Duration = .seconds(60)

  private func note(_ until: UnixTime?, of place: StartPlace, isToSend: Bool) {
    let before = held[place]
    held[place] = until
    guard isToSend, let until, let before else { return }
    let now = until - Self.startHeld
    // One that ends much later is of before the clock was set back.
    if before > now, before - now <= Self.startHeld + Self.clocksDifferMax {
      violated("a start was taken from the sender that holds it")
    }
  }

  private func noteOtherPhones(_ record: DeliveryRecord) {
    guard let status = record.status, (200..<300).contains(status) else { return }
    if record.event == StageName.fcm.rawValue, let context = record.contextKey {
      let place = FCMPlace(token: record.tokenFingerprint, context: context)
      let earlier = fcmAcceptedAt[place]?[record.rev]
      fcmAcceptedAt[place, default: [:]][record.rev] = earlier ?? moment
    } else if record.event == StageName.webpush.rawValue {
      let topic = WebPushTopic.of("cs-invite-\(record.sessionID)")
      let place = WebPushPlace(browser: record.tokenFingerprint, topic: topic)
      webPushAcceptedAt[place] = webPushAcceptedAt[place] ?? moment
    }
  }

  /// The newest rev whose acceptance was stored at that moment.
  func fcmAccepted(at place: FCMPlace, by moment: Int) -> Int? {
    fcmAcceptedAt[place]?.filter { $0.value <= moment }.keys.max()
  }

  func isAccepted(_ place: WebPushPlace, by moment: Int) -> Bool {
    webPushAcceptedAt[place].map { $0 <= moment } ?? false
  }

  func isResolved(_ topic: String, by moment: Int) -> Bool {
    resolvedAt[topic].map { $0 <= moment } ?? false
  }

  func settled(_ message: Message, by stage: StageName, as disposition: Disposition) {
    if disposition == .expired { expired.append(message) }
    switch disposition {
    // Comes again.
    case .retry, .park, .handBack: break
    case .done, .stale, .superseded, .expired, .dead:
      ends[Place(stage: stage, message: message.id), default: []].append(disposition)
    }
  }

  private struct Stored: Hashable {
    let exchange: String
    let message: String
  }

  func stored(_ outgoing: OutgoingMessage) {
    stored.insert(Stored(exchange: outgoing.exchange, message: outgoing.message.id))
  }

  /// An acknowledgement is a promise that nothing it caused can be lost.
  func acknowledged(_ settlement: Settlement, by stage: StageName) {
    settled(settlement.delivery.message, by: stage, as: settlement.disposition)
    for outgoing in settlement.outgoing
    where !stored.contains(Stored(exchange: outgoing.exchange, message: outgoing.message.id)) {
      violated(
        "\(stage.rawValue) acknowledged before the broker had \(outgoing.message.type)")
    }
  }

  func violated(_ what: String) { violations.append(what) }
}

/// Notes what a stage decides about each delivery; it counts once the delivery is acknowledged.
final class LedgerStage: Stage {
  private let inner: any Stage
  private let ledger: Ledger
  private let broken: BrokenRule?
  private let onDecided: (Settlement) -> Void
  private var decided: [DeliveryTag: Settlement] = [:]

  init(
    _ inner: any Stage, ledger: Ledger, broken: BrokenRule?,
    onDecided: @escaping (Settlement) -> Void
  ) {
    self.onDecided = onDecided
    self.inner = inner
    self.ledger = ledger
    self.broken = broken
  }

  var name: StageName { inner.name }
  var isRepeatable: Bool { inner.isRepeatable }
  var capacity: Int { inner.capacity }
  var inHand: Int { inner.inHand }
  var descriptors: [(descriptor: Int32, events: Int16)] { [] }
  func forgetWaiting() { inner.forgetWaiting() }
  func giveUpWaiting() -> [Delivery] { inner.giveUpWaiting() }

  func take(_ deliveries: [Delivery]) throws -> [Settlement] {
    guard broken == .ignoresLateTokens, name == .build else {
      return noted(try inner.take(deliveries))
    }
    let ignored = deliveries.filter { $0.message.type == Event.tokenRegisteredType }
    let others = deliveries.filter { $0.message.type != Event.tokenRegisteredType }
    return noted(try inner.take(others) + ignored.map { Settlement($0, .done) })
  }

  func advance() throws -> [Settlement] { noted(try inner.advance()) }

  func acknowledged(_ tag: DeliveryTag) {
    guard let settlement = decided.removeValue(forKey: tag) else { return }
    ledger.acknowledged(settlement, by: name)
  }

  private func noted(_ settlements: [Settlement]) -> [Settlement] {
    for settlement in settlements {
      onDecided(settlement)
      decided[settlement.delivery.tag] = settlement
    }
    return settlements
  }
}

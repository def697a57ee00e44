import Cryptography
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

/// Push services that answer as the test says, at the next ``advance()``.
final class ScriptedCarrier: WebPushCarrier {
  /// What is answered to a request; nil: nothing yet, it stays in flight.
  var answer: (WebPushRequest) -> WebPushOutcome? = { _ in .answered(WebPushAnswer(status: 201)) }
  var inFlightMax = 100
  /// Everything handed over, in order.
  private(set) var requests: [WebPushRequest] = []
  private var open: [WebPushRequest] = []

  var descriptors: [(descriptor: Int32, events: Int16)] { [] }
  var capacity: Int { max(0, inFlightMax - open.count) }
  var inFlight: Int { open.count }

  func send(_ request: WebPushRequest) {
    precondition(capacity > 0, "more was sent than there was room for")
    requests.append(request)
    open.append(request)
  }

  func advance() -> [WebPushResult] {
    var results: [WebPushResult] = []
    open.removeAll { request in
      guard let outcome = answer(request) else { return false }
      results.append(WebPushResult(number: request.number, outcome: outcome))
      return true
    }
    return results
  }

  func close() { open = [] }
}

/// A Web Push sender over a store in memory and push services that answer as told.
final class WebPushRig {
  let time: ManualTime
  let storeSwitch = StoreSwitch()
  let store: InMemoryStore
  let carrier = ScriptedCarrier()
  let keys: VAPIDKeys
  let sender: WebPushSender
  let metrics = Metrics()
  let owner = UserID("u_mara")
  let session = SessionID("cs_1")
  /// The browsers' private keys, by endpoint.
  private var browsers: [String: (key: AgreementKey, auth: [UInt8])] = [:]
  private var lastTag: UInt64 = 0

  init(at start: UnixTime = Samples.noon) throws {
    time = ManualTime(start)
    store = storeSwitch.store()
    keys = try VAPIDKeys(pem: SigningKey.generate().pem + SigningKey.generate().pem)
    sender = WebPushSender(
      store: store, carrier: carrier, keys: keys,
      subject: try VAPIDSubject("mailto:ops@app.example"), services: .browsers, time: time,
      log: .discarding, metrics: metrics)
  }

  @discardableResult
  func subscribe(
    _ number: Int = 1, host: String = "fcm.googleapis.com", keyID: String? = nil
  ) throws -> WebPushSubscription {
    let endpoint = "https://\(host)/send/\(number)"
    let browser = (key: AgreementKey.generate(), auth: RandomBytes.make(16))
    browsers[endpoint] = browser
    let subscription = WebPushSubscription(
      userID: owner, endpoint: try PushEndpoint(endpoint),
      keys: try WebPushKeys(p256dh: browser.key.publicKey, auth: browser.auth),
      vapidKeyID: keyID ?? keys.first.id, createdAt: time.now())
    return try store.write { try $0.save(subscription) }
  }

  /// With keys that somebody else holds.
  func subscribe(_ endpoint: String, keys browserKeys: WebPushKeys) throws -> WebPushSubscription {
    let subscription = WebPushSubscription(
      userID: owner, endpoint: try PushEndpoint(endpoint), keys: browserKeys,
      vapidKeyID: keys.first.id, createdAt: time.now())
    return try store.write { try $0.save(subscription) }
  }

  static let dedupeKey = "cs-invite-cs_1"

  func job(
    _ subscription: WebPushSubscription, user: UserID? = nil, key: String = dedupeKey,
    deadlineIn: Duration = .seconds(7200), payload: Data? = nil
  ) throws -> WebPushJob {
    let content = WebPushPayload(
      title: "Plan dinner with Dennis", body: "Tap to join in", link: "/cook-suggest/cs_1",
      dedupeKey: key, sessionID: session, language: "en", icon: "✨")
    return WebPushJob(
      sessionID: session, userID: user ?? owner, subscriptionID: subscription.id, dedupeKey: key,
      deadline: time.now() + deadlineIn, causedAt: time.now(), traceparent: nil,
      payload: try payload ?? content.encoded(origin: WebOrigin("https://app.example")))
  }

  func delivery(_ job: WebPushJob, attempt: Int = 1) -> Delivery {
    var message = job.message
    if attempt > 1 { message.headers[RetryHeader.attempt] = .integer(Int64(attempt - 1)) }
    lastTag += 1
    return Samples.delivery(message, lastTag, exchange: "webpush", routingKey: "webpush")
  }

  func push(_ jobs: WebPushJob...) throws -> [Disposition] { try push(all: jobs) }

  func push(all jobs: [WebPushJob]) throws -> [Disposition] {
    let taken = try sender.take(jobs.map { delivery($0) })
    return try taken.map(\.disposition) + advance()
  }

  /// Turns until nothing more is settled, as a worker does.
  func advance() throws -> [Disposition] {
    var dispositions: [Disposition] = []
    while true {
      let settled = try sender.advance()
      if settled.isEmpty { return dispositions }
      dispositions += settled.map(\.disposition)
    }
  }

  /// Answers by the order of requests; the last answer stands for all further ones.
  func answer(_ answers: WebPushAnswer...) {
    var left = answers
    carrier.answer = { _ in
      (left.count > 1 ? left.removeFirst() : left.first).map { .answered($0) }
    }
  }

  func answer(_ status: Int, _ reason: String? = nil) {
    answer(WebPushAnswer(status: status, reason: reason))
  }

  /// What the browser reads of a request.
  func read(_ request: WebPushRequest) throws -> JSONValue {
    let browser = try #require(browsers[request.endpoint.text])
    let plaintext = WebPushEncryption.plaintext(
      of: Array(request.body), receiver: browser.key, auth: browser.auth)
    return try JSONValue(parsing: Data(try #require(plaintext)))
  }

  func isThere(_ subscription: WebPushSubscription) throws -> Bool {
    try store.read { try $0.subscriptions([subscription.id])[subscription.id] != nil }
  }

  func records() throws -> [DeliveryRecord] { try store.read { try $0.deliveries(of: session) } }

  func counted(_ outcome: String) -> Bool {
    metrics.text().contains(
      "lockstep_notifications_total{channel=\"webpush\",outcome=\"\(outcome)\"}")
  }
}

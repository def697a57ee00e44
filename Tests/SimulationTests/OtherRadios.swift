import Cryptography
import Foundation
import Pipeline
import Pushes
import Simulator
import TestSupport
import Vocabulary

@testable import struct Simulator.FCMMessage

/// One sender's connections to FCM.
final class FCMRadio: FCMCarrier {
  private let phones: OtherPhones
  private let ledger: Ledger
  private let life: Life
  private let inFlightMax: Int
  private let underWay: UnderWay<Ledger.FCMPlace, FCMOutcome>

  init(_ phones: OtherPhones, ledger: Ledger, life: Life, inFlightMax: Int) {
    self.phones = phones
    self.ledger = ledger
    self.life = life
    self.inFlightMax = inFlightMax
    underWay = UnderWay(through: phones.ether)
  }

  var descriptors: [(descriptor: Int32, events: Int16)] { [] }
  var capacity: Int { max(0, inFlightMax - inFlight) }
  var inFlight: Int { underWay.open.count }
  func renewAccessToken(refused number: Int) {}

  func send(_ request: Pipeline.FCMRequest) {
    // A dead process sends nothing; its own code notices at the next call.
    guard !life.isOver else { return }
    guard let message = try? FCMMessage(body: Array(request.body)),
      let context = message.data["contextKey"], let rev = message.rev,
      let token = try? FCMToken(message.token)
    else { return ledger.violated("an FCM message that no phone could read") }
    let place = Ledger.FCMPlace(token: token.fingerprint, context: ContextKey(context))
    if underWay.open.values.contains(place) {
      ledger.violated("two messages for one card of one Android phone at once on one sender")
    }
    if let newer = ledger.fcmAccepted(at: place, by: life.lookedAt), newer >= rev {
      ledger.violated("rev \(rev) sent to FCM after the acceptance of rev \(newer) was stored")
    }
    underWay.begin(request.number, place)
    let chaos = phones.ether.chaos
    chaos.note("\(life.name) sends \(OtherPhones.words(message))")
    plan(request, chaos.isOn ? chaos.number(in: 0...29) : 29)
    _ = try? life.moment("after sending to FCM")  // It notices at its next call.
  }

  private func plan(_ request: Pipeline.FCMRequest, _ fate: Int) {
    let ether = phones.ether
    let there = ether.delay
    func answer(_ outcome: FCMOutcome, after wait: Duration) {
      underWay.answer(outcome, to: request.number, after: wait)
    }
    func arrival(after wait: Duration, thenAnswer back: Duration?) {
      underWay.arrival(of: request.number, after: wait, thenAnswer: back) { [phones] in
        phones.arrive(request.body)
      }
    }
    switch fate {
    case 0, 1: answer(.answered(FCMAnswer(status: 503, errorCode: "UNAVAILABLE")), after: there)
    case 2: answer(.answered(FCMAnswer(status: 500, errorCode: "INTERNAL")), after: there)
    case 3: answer(.answered(FCMAnswer(status: 429, errorCode: "QUOTA_EXCEEDED")), after: there)
    case 4: answer(.answered(FCMAnswer(status: 401, state: "UNAUTHENTICATED")), after: there)
    case 5: answer(.unauthorized(NoAccessToken("503", isRefusal: false)), after: there)
    case 6, 7: answer(.unanswered(because: "connection lost"), after: there)
    case 8...10:
      arrival(after: there, thenAnswer: nil)
      answer(.unanswered(because: "connection lost"), after: there + ether.delay)
    case 11:
      // What hung in a buffer arrives after all.
      answer(.unanswered(because: "no answer within 10 s"), after: .seconds(10))
      arrival(after: .seconds(12) + min(there, .seconds(3)), thenAnswer: nil)
    default: arrival(after: there, thenAnswer: ether.delay)
    }
  }

  func advance() -> [FCMResult] {
    underWay.look().map { FCMResult(number: $0.number, outcome: $0.outcome, accessToken: 1) }
  }

  func close() { underWay.end() }
}

/// One sender's connections to the push service of the web.
final class WebPushRadio: WebPushCarrier {
  private let phones: OtherPhones
  private let ledger: Ledger
  private let life: Life
  private let inFlightMax: Int
  private let underWay: UnderWay<Ledger.WebPushPlace, WebPushOutcome>

  init(_ phones: OtherPhones, ledger: Ledger, life: Life, inFlightMax: Int) {
    self.phones = phones
    self.ledger = ledger
    self.life = life
    self.inFlightMax = inFlightMax
    underWay = UnderWay(through: phones.ether)
  }

  var descriptors: [(descriptor: Int32, events: Int16)] { [] }
  var capacity: Int { max(0, inFlightMax - inFlight) }
  var inFlight: Int { underWay.open.count }

  func send(_ request: Pipeline.WebPushRequest) {
    guard !life.isOver else { return }
    let place = Ledger.WebPushPlace(
      browser: String(Digest.sha256(request.endpoint.text).hex.prefix(8)), topic: request.topic)
    if underWay.open.values.contains(place) {
      ledger.violated("two Web Pushes of one notification at once on one sender")
    }
    if ledger.isAccepted(place, by: life.lookedAt) {
      ledger.violated("a Web Push sent again after its acceptance was stored")
    }
    if ledger.isResolved(request.topic, by: life.lookedAt) {
      ledger.violated("a Web Push sent after its notification was resolved")
    }
    underWay.begin(request.number, place)
    let chaos = phones.ether.chaos
    chaos.note("\(life.name) sends \(request.topic)")
    plan(request, chaos.isOn ? chaos.number(in: 0...29) : 29)
    _ = try? life.moment("after sending a Web Push")  // It notices at its next call.
  }

  private func plan(_ request: Pipeline.WebPushRequest, _ fate: Int) {
    let ether = phones.ether
    let there = ether.delay
    func answer(_ outcome: WebPushOutcome, after wait: Duration) {
      underWay.answer(outcome, to: request.number, after: wait)
    }
    func arrival(after wait: Duration, thenAnswer back: Duration?) {
      underWay.arrival(of: request.number, after: wait, thenAnswer: back) { [phones] in
        let subscription = request.endpoint.text.split(separator: "/").last.map(String.init) ?? ""
        return phones.arrive(
          request.body, at: subscription, ttl: request.ttl, topic: request.topic)
      }
    }
    switch fate {
    case 0, 1: answer(.answered(WebPushAnswer(status: 503)), after: there)
    case 2: answer(.answered(WebPushAnswer(status: 429)), after: there)
    case 3: answer(.answered(WebPushAnswer(status: 401, reason: "expired")), after: there)
    case 4: answer(.answered(WebPushAnswer(status: 500)), after: there)
    case 5, 6: answer(.unanswered(because: "connection lost"), after: there)
    case 7...10:
      arrival(after: there, thenAnswer: nil)
      answer(.unanswered(because: "connection lost"), after: there + ether.delay)
    case 11:
      answer(.unanswered(because: "no answer within 10 s"), after: .seconds(10))
      arrival(after: .seconds(12) + min(there, .seconds(3)), thenAnswer: nil)
    default: arrival(after: there, thenAnswer: ether.delay)
    }
  }

  func advance() -> [WebPushResult] {
    underWay.look().map { WebPushResult(number: $0.number, outcome: $0.outcome) }
  }

  func close() { underWay.end() }
}

import Foundation
import Pipeline
import Pushes
import Simulator
import TestSupport
import Vocabulary

/// APNs and the way to it and from it: pushes are late, lost, answered late or never, refused.
/// What it accepts reaches the virtual phones; for one that is offline it waits.
final class Airwaves {
  /// A push that APNs accepted.
  struct Arrival {
    let request: PushRequest
    let at: Duration
  }

  /// The longest that anything is on its way.
  static let underWayMax: Duration = .seconds(16)

  var fleet: Fleet
  private(set) var arrivals: [Arrival] = []
  /// Phones without a network.
  private(set) var offline: Set<String> = []
  /// Pushes that expired before their phone came back, by phone: what it misses is not our fault.
  private(set) var expired: [String: [AcceptedPush]] = [:]
  private let bundleID: String
  let ether: Ether
  private let time: ManualTime
  private let chaos: Chaos
  private var held: [String: [AcceptedPush]] = [:]
  /// Calls that phones want made.
  var onCalls: ([OwnedEffect]) -> Void = { _ in }

  init(fleet: Fleet, bundleID: String, time: ManualTime, chaos: Chaos) {
    self.fleet = fleet
    self.bundleID = bundleID
    self.time = time
    self.chaos = chaos
    ether = Ether(time: time, chaos: chaos, isSlow: false)
  }

  // MARK: The way there and back

  func send(_ request: PushRequest, from radio: Radio) {
    chaos.note("\(time.elapsed()) \(radio.name) sends \(Self.words(request))")
    let there = ether.delay
    func answer(_ outcome: PushOutcome, after wait: Duration) {
      radio.underWay.answer(outcome, to: request.number, after: wait)
    }
    func arrival(after wait: Duration, thenAnswer back: Duration?) {
      radio.underWay.arrival(of: request.number, after: wait, thenAnswer: back) { [self] in
        arrive(request)
      }
    }
    guard chaos.isOn else { return arrival(after: there, thenAnswer: there) }
    switch chaos.number(in: 0...39) {
    case 0, 1: answer(.status(503, "ServiceUnavailable"), after: there)
    case 2: answer(.status(500, "InternalServerError"), after: there)
    case 3: answer(.status(429, "TooManyRequests"), after: there)
    case 4: answer(.status(403, "ExpiredProviderToken"), after: there)
    case 5: answer(.status(403, "InvalidProviderToken"), after: there)
    case 6, 7: answer(.neverProcessed(because: "GOAWAY"), after: there)
    case 8: answer(.unanswered(because: "connection lost"), after: there)
    case 9, 10:
      arrival(after: there, thenAnswer: nil)
      answer(.unanswered(because: "connection lost"), after: there + ether.delay)
    case 11 where request.pushType == "liveactivity":
      // The deadline passes first; what hung in a buffer arrives all the same.
      answer(.unanswered(because: "no answer within 10 s"), after: .seconds(10))
      arrival(after: .seconds(12) + there, thenAnswer: nil)
    default: arrival(after: there, thenAnswer: ether.delay)
    }
  }

  // MARK: APNs

  private func arrive(_ request: PushRequest) -> PushOutcome {
    let now = time.now()
    let place = request.environment == .production ? APNsEnvironment.production : .sandbox
    let outcome: PushOutcome
    switch fleet.standing(of: request.token.hex, in: place) {
    case .unknown: outcome = .status(400, "BadDeviceToken")
    case .unregistered(let since):
      outcome = .answered(
        PushAnswer(
          status: 410, reason: "Unregistered", timestamp: UnixTime(milliseconds: since)))
    case .reachable(let use): outcome = accept(request, use, now)
    }
    chaos.note("\(time.elapsed()) apns: \(Self.words(request)): \(outcome)")
    return outcome
  }

  /// What a push is, in words that only the seed decides.
  static func words(_ request: PushRequest) -> String {
    let aps = (try? JSONValue(parsing: request.body))?["aps"]
    let state = aps?["content-state"]?["rev"] ?? .null
    let what = aps?["event"] ?? .string("\(request.pushType) \(request.collapseID ?? "")")
    return
      "\(what.encodedText) rev \(state.encodedText) stamp \(aps?["timestamp"]?.encodedText ?? "")"
      + " to \(request.token.hex.prefix(6))"
  }

  private func accept(_ request: PushRequest, _ use: TokenUse, _ now: UnixTime) -> PushOutcome {
    let isLiveActivity = request.topic == "\(bundleID).push-type.liveactivity"
    guard isLiveActivity == (use != .alert), isLiveActivity == (request.pushType == "liveactivity"),
      let type = PushType(rawValue: request.pushType)
    else { return .status(400, "DeviceTokenNotForTopic") }
    guard request.body.count <= APNsRules.payloadBytesMax else {
      return .status(413, "PayloadTooLarge")
    }
    arrivals.append(Arrival(request: request, at: time.elapsed()))
    let expiration: PushExpiration =
      switch request.expiration {
      case nil: .appleDecides
      case 0: .onceNow
      case let seconds?: .at(seconds)
      }
    let read = APNsRequest(
      method: "POST", path: "/3/device/\(request.token.hex)", headers: [],
      body: Array(request.body))
    deliver(
      AcceptedPush(
        token: request.token.hex, use: use, type: type, topic: request.topic,
        priority: request.priority, expiration: expiration, apnsID: request.apnsID,
        collapseID: request.collapseID, contentType: "application/json", payload: read.payload),
      now)
    return .status(200)
  }

  private func deliver(_ push: AcceptedPush, _ now: UnixTime) {
    guard let phone = fleet.phoneID(ofToken: push.token) else { return }
    guard offline.contains(phone) else { return onCalls(fleet.deliver(push, at: now)) }
    if let collapseID = push.collapseID {
      held[phone]?.removeAll { $0.collapseID == collapseID && $0.token == push.token }
    }
    held[phone, default: []].append(push)
  }

  // MARK: Phones

  func goOffline(_ phone: String) { offline.insert(phone) }

  /// What waited is delivered, in order, unless it has expired.
  func goOnline(_ phone: String) {
    guard offline.remove(phone) != nil else { return }
    let now = time.now()
    for push in held.removeValue(forKey: phone) ?? [] {
      if push.isDeliverable(at: now) {
        onCalls(fleet.deliver(push, at: now))
      } else {
        expired[phone, default: []].append(push)
      }
    }
  }

  /// Time does its work on every phone.
  func age() {
    let now = time.now()
    for id in fleet.phoneIDs {
      onCalls(fleet.act(on: id, at: now) { phone, _ in phone.pass(to: now) })
    }
  }
}

/// One sender's connections to APNs.
final class Radio: PushTransport {
  private let airwaves: Airwaves
  private let ledger: Ledger
  private let life: Life
  private let broken: BrokenRule?
  private let inFlightMax: Int
  let underWay: UnderWay<PushRequest, PushOutcome>
  private var sends = 0

  init(
    _ airwaves: Airwaves, ledger: Ledger, life: Life, inFlightMax: Int, broken: BrokenRule?
  ) {
    self.airwaves = airwaves
    self.ledger = ledger
    self.life = life
    self.inFlightMax = inFlightMax
    self.broken = broken
    underWay = UnderWay(through: airwaves.ether)
  }

  var descriptors: [(descriptor: Int32, events: Int16)] { [] }
  var capacity: Int { max(0, inFlightMax - inFlight) }
  var inFlight: Int { underWay.open.count }

  func send(_ request: PushRequest) {
    // A dead process sends nothing; its own code notices at the next call.
    guard !life.isOver else { return }
    if underWay.open.values.contains(where: { $0.token == request.token }) {
      ledger.violated("two pushes to \(request.token.fingerprint) at once on one sender")
    }
    // Whoever looked after the acceptance was stored must not send again. That a start is sent by
    // nobody else while it is held, the ledger sees when it is taken: once a sender has kept it for
    // too long, it may learn the answer while the next one sends.
    if let accepted = ledger.acceptedAt[request.apnsID], accepted <= life.lookedAt,
      request.collapseID != nil || request.pushType == "background"
    {
      ledger.violated(
        "\(request.pushType) \(request.collapseID ?? "") sent again after its acceptance was stored"
      )
    }
    sends += 1
    underWay.begin(request.number, request)
    airwaves.send(broken == .newIDForEachSend ? renamed(request) : request, from: self)
    _ = try? life.moment("after sending a push")  // It notices at its next call.
  }

  var name: String { life.name }

  private func renamed(_ request: PushRequest) -> PushRequest {
    PushRequest(
      number: request.number, token: request.token, environment: request.environment,
      topic: request.topic, pushType: request.pushType, priority: request.priority,
      expiration: request.expiration, collapseID: request.collapseID,
      apnsID: "\(request.apnsID.dropLast(4))\(1000 + sends)", body: request.body,
      isProven: request.isProven, deadline: request.deadline)
  }

  func advance() -> [PushResult] {
    underWay.look().map { PushResult(number: $0.number, outcome: $0.outcome) }
  }

  func close() { underWay.end() }
}

extension JSONValue {
  fileprivate var encodedText: String { String(decoding: encoded, as: UTF8.self) }
}

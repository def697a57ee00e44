import Foundation
import Glibc
import HTTP2
import Vocabulary

/// The stand-in for APNs: takes requests, lets faults strike, answers by the rules, and hands
/// accepted pushes to the phones.
struct APNsService: Sendable {
  let world: World
  /// Nil when one port serves both environments.
  let environment: APNsEnvironment?
  private let conduct = ConnectionConduct()

  init(world: World, environment: APNsEnvironment?) {
    self.world = world
    self.environment = environment
  }

  /// Called on the HTTP/2 server's thread.
  func reply(to request: HTTP2Request) -> HTTP2Reply {
    let asked = APNsRequest(
      method: request.method, path: request.path,
      headers: request.headers.map { APNsRequest.Header($0.name, $0.value) },
      body: Array(request.body))
    return world.change { world, now in
      if let answer = world.manage(asked, in: environment, at: now) {
        return (.respond(answer), [])
      }
      let narrows = world.faults.narrowsConnections
      let fault = conduct.fault(on: request.connection, struck: world.fault(striking: asked))
      let outcome = world.settle(
        asked, on: request.connection, in: environment, fault: fault, at: now)
      let answer = response(outcome, retryAfter: fault?.retryAfterSeconds, at: now)
      let reply = Self.reply(answer, fault: fault)
      guard narrows, case .respond = reply else { return (reply, outcome.effects) }
      let narrowing = conduct.reply(reply, status: answer.status, on: request.connection)
      return (narrowing, outcome.effects)
    }
  }

  /// The answer, or the trouble that was asked for.
  static func reply(_ answer: HTTP2Response, fault: Fault?) -> HTTP2Reply {
    switch fault?.action {
    // A poisoned connection's answers come here as `answer`; `narrow` and `start` strike no push.
    case nil, .answer, .poison, .narrow, .start: return .respond(answer)
    case .limit:
      return .withStreams(fault?.streams.map { UInt32(clamping: $0) }, then: .respond(answer))
    case .delay: return .respondAfter(.milliseconds(fault?.delayMilliseconds ?? 0), answer)
    case .never: return .never
    case .drop: return .dropConnection
    // INTERNAL_ERROR of RFC 9113, section 7.
    case .reset: return .resetStream(errorCode: 2)
    case .goaway:
      let debug = APNsRefusal(503, fault?.reason ?? "Shutdown").body.encoded
      return .goAway(debug: String(decoding: debug, as: UTF8.self), after: nil)
    case .deaf: return .goDeaf
    }
  }

  private func response(_ outcome: World.Outcome, retryAfter: Int?, at now: UnixTime)
    -> HTTP2Response
  {
    var headers = [("apns-id", outcome.apnsID), ("date", now.httpDate)]
    if let id = outcome.uniqueID { headers.append(("apns-unique-id", id)) }
    if let retryAfter { headers.append(("retry-after", String(retryAfter))) }
    guard let refusal = outcome.refusal else {
      return HTTP2Response(status: 200, headers: headers)
    }
    headers.append(("content-type", "application/json"))
    return HTTP2Response(
      status: refusal.status, headers: headers, body: refusal.body.encoded)
  }
}

extension World.State {
  /// The fault that strikes this push; nil for none.
  mutating func fault(striking request: APNsRequest) -> Fault? {
    guard !faults.isEmpty else { return nil }
    let subject = FaultSubject(
      pushType: request.value("apns-push-type"),
      event: (try? request.payload.get())?.event?.rawValue,
      token: request.token, phone: fleet.phoneID(ofToken: request.token),
      priority: request.value("apns-priority").flatMap { Int($0) })
    return faults.strike(subject, chance: &chance)
  }
}

extension UnixTime {
  /// As HTTP writes dates, `Mon, 30 Nov 2026 04:21:05 GMT`.
  var httpDate: String {
    var whole = time_t(seconds)
    var parts = tm()
    gmtime_r(&whole, &parts)
    var text = [CChar](repeating: 0, count: 40)
    let length = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    return String(decoding: text.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}

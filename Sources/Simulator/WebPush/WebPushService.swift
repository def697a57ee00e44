import HTTP2
import Vocabulary

/// The stand-in for a push service: takes requests, lets faults strike, answers by the rules, and
/// hands accepted pushes to the browsers.
struct WebPushService: Sendable {
  /// What a fault's `match.push_type` says to strike only here.
  static let pushType = "web-push"

  let world: World

  /// Called on the HTTP/2 server's thread.
  func reply(to request: HTTP2Request) -> HTTP2Reply {
    let asked = WebPushRequest(
      method: request.method, path: request.path,
      headers: request.headers.map { WebPushRequest.Header($0.name, $0.value) },
      body: Array(request.body))
    return world.change { state, now in
      let fault = state.strike(asked)
      let outcome = state.settle(asked, on: request.connection, fault: fault, at: now)
      let answer = response(outcome, retryAfter: fault?.retryAfterSeconds, at: now)
      return (APNsService.reply(answer, fault: fault), [])
    }
  }

  private func response(_ outcome: World.WebPushOutcome, retryAfter: Int?, at now: UnixTime)
    -> HTTP2Response
  {
    var headers = [("date", now.httpDate)]
    if let retryAfter { headers.append(("retry-after", String(retryAfter))) }
    switch outcome {
    case .taken(let push, let location):
      headers += [("location", location), ("ttl", String(push.ttl))]
      return HTTP2Response(status: 201, headers: headers)
    case .refused(let refusal):
      headers.append(("content-type", "application/json"))
      return HTTP2Response(
        status: refusal.status, headers: headers, body: refusal.body.encoded)
    }
  }
}

extension World {
  enum WebPushOutcome: Hashable, Sendable {
    case taken(AcceptedWebPush, location: String)
    case refused(WebPushRefusal)
  }
}

extension World.State {
  fileprivate mutating func strike(_ request: WebPushRequest) -> Fault? {
    guard !faults.isEmpty else { return nil }
    let subscription = request.subscription ?? ""
    let subject = FaultSubject(
      pushType: WebPushService.pushType, event: nil, token: subscription,
      phone: browsers.id(ofSubscription: subscription))
    return faults.strike(subject, chance: &chance)
  }

  /// Checks, delivers and writes down one request.
  mutating func settle(
    _ request: WebPushRequest, on connection: Int, fault: Fault?, at now: UnixTime
  ) -> World.WebPushOutcome {
    let browserID = request.subscription.flatMap { browsers.id(ofSubscription: $0) }
    let struck = WebPushRefusal(
      fault?.status ?? 500, fault?.reason ?? "InternalServerError", "a fault that was asked for")
    var outcome: World.WebPushOutcome
    var isTaken = false
    if let fault, !fault.letsThrough {
      outcome = .refused(struck)
    } else {
      do {
        let push = try accept(request, at: now)
        outcome = .taken(push, location: "/message/\(chance.uuid())")
        isTaken = true
        deliver(push, to: browserID, at: now)
      } catch {
        outcome = .refused(error)
      }
      if fault?.action == .answer, case .taken = outcome { outcome = .refused(struck) }
    }
    fleet.note(
      PushRecord(
        request, browser: browserID, outcome: outcome, isTaken: isTaken, fault: fault,
        connection: connection, at: now))
    return outcome
  }

  private func accept(_ request: WebPushRequest, at now: UnixTime) throws(WebPushRefusal)
    -> AcceptedWebPush
  {
    guard let subscription = request.subscription,
      let id = browsers.id(ofSubscription: subscription), let browser = browsers.browsers[id]
    else { throw .neverSubscribed }
    guard browser.isSubscribed else { throw .unsubscribed }
    return try WebPushRules(origin: webPushOrigin)
      .accept(request, vapidKey: browser.identity.vapidKey, at: now)
  }

  private mutating func deliver(_ push: AcceptedWebPush, to browserID: String?, at now: UnixTime) {
    guard let browserID else { return }
    act(onBrowser: browserID, at: now) { $0.receive(push) }
  }

  /// Lets something happen to one browser; findings become complaints.
  mutating func act(
    onBrowser id: String, at now: UnixTime, _ happening: (inout VirtualBrowser) -> [Finding]
  ) {
    for finding in browsers.act(on: id, happening) {
      fleet.complain(finding, of: id, apnsID: nil, at: now)
    }
  }
}

extension PushRecord {
  fileprivate init(
    _ request: WebPushRequest, browser: String?, outcome: World.WebPushOutcome, isTaken: Bool,
    fault: Fault?, connection: Int, at now: UnixTime
  ) {
    let isAnswered = fault?.isAnswered ?? true
    var status = 201
    var reason: String?
    if case .refused(let refusal) = outcome {
      status = refusal.status
      reason = refusal.reason
    }
    self.init(
      at: now, phone: browser, token: String((request.subscription ?? "").prefix(8)),
      pushType: WebPushService.pushType, event: nil, rev: nil, stamp: nil, priority: nil,
      apnsID: nil, collapseID: request.value("topic"), bytes: request.body.count,
      status: isAnswered ? status : nil, reason: isAnswered ? reason : nil,
      isTaken: isTaken, fault: fault?.action.rawValue, ageMilliseconds: nil, connection: connection)
  }
}

import HTTP2
import Vocabulary

/// The stand-in for FCM and for Google's token endpoint: takes requests, lets faults strike,
/// answers by the rules, and hands accepted messages to the Android phones.
struct FCMService: Sendable {
  /// What a fault's `match.push_type` says to strike only here.
  static let pushType = "fcm"

  let world: World

  /// Called on the HTTP/2 server's thread.
  func reply(to request: HTTP2Request) -> HTTP2Reply {
    let isToken = request.path == "/token"
    let body = Array(request.body)
    let authorization = request.header("authorization")
    return world.change { state, now in
      if isToken { return (.respond(state.grant(form: body, at: now)), []) }
      let fault = state.strikeFCM(body)
      let refusal = state.settleFCM(
        request.path, authorization, body, on: request.connection, fault: fault, at: now)
      let name = "projects/stand-in/messages/\(state.chance.uuid())"
      let answer = Self.response(
        refusal, name: name, retryAfter: fault?.retryAfterSeconds, at: now)
      return (APNsService.reply(answer, fault: fault), [])
    }
  }

  private static func response(
    _ refusal: FCMRefusal?, name: String, retryAfter: Int?, at now: UnixTime
  ) -> HTTP2Response {
    var headers = [("date", now.httpDate), ("content-type", "application/json; charset=UTF-8")]
    if let retryAfter { headers.append(("retry-after", String(retryAfter))) }
    let body: JSONValue = refusal?.body ?? ["name": .string(name)]
    return HTTP2Response(status: refusal?.status ?? 200, headers: headers, body: body.encoded)
  }
}

extension World.State {
  mutating func grant(form: [UInt8], at now: UnixTime) -> HTTP2Response {
    var status = 200
    let body: JSONValue
    do throws(FCMRefusal) {
      guard var project = fcmProject else {
        throw FCMRefusal(404, state: "invalid_client", "the simulator has no FCM credentials")
      }
      let token = try project.grant(form: form, mint: &chance, at: now)
      fcmProject = project
      body = [
        "access_token": .string(token), "expires_in": .integer(FCMProject.life),
        "token_type": "Bearer",
      ]
    } catch {
      status = error.status
      body = ["error": .string(error.state), "error_description": .string(error.words)]
    }
    return HTTP2Response(
      status: status, headers: [("content-type", "application/json")], body: body.encoded)
  }

  fileprivate mutating func strikeFCM(_ body: [UInt8]) -> Fault? {
    guard !faults.isEmpty, let message = try? FCMMessage(body: body) else { return nil }
    let subject = FaultSubject(
      pushType: FCMService.pushType, event: message.data["event"], token: message.token,
      phone: androids.id(ofToken: message.token))
    return faults.strike(subject, chance: &chance)
  }

  /// Checks, delivers and writes down one request.
  ///
  /// - Returns: nil when it was accepted.
  mutating func settleFCM(
    _ path: String, _ authorization: String?, _ body: [UInt8], on connection: Int, fault: Fault?,
    at now: UnixTime
  ) -> FCMRefusal? {
    var refusal: FCMRefusal?
    var isTaken = false
    // What cannot be read has no phone.
    let message = try? FCMMessage(body: body)
    let id = message.flatMap { androids.id(ofToken: $0.token) }
    if let fault, !fault.letsThrough {
      refusal = FCMRefusal(fault)
    } else {
      do {
        let message = try accept(path, authorization, body, at: now)
        isTaken = true
        deliver(message, to: id, at: now)
      } catch {
        refusal = error
      }
      if let fault, fault.action == .answer, refusal == nil { refusal = FCMRefusal(fault) }
    }
    if refusal?.status == 200 { refusal = nil }
    let isAnswered = fault?.isAnswered ?? true
    fleet.note(
      PushRecord(
        at: now, phone: id, token: String((message?.token ?? "").prefix(8)),
        pushType: FCMService.pushType, event: message?.data["event"], rev: message?.rev,
        stamp: nil, priority: message?.priority == "HIGH" ? 10 : 5, apnsID: nil,
        collapseID: message?.collapseKey, bytes: body.count,
        status: isAnswered ? refusal?.status ?? 200 : nil,
        reason: isAnswered ? refusal.map { $0.errorCode ?? $0.state } : nil, isTaken: isTaken,
        fault: fault?.action.rawValue, ageMilliseconds: nil, connection: connection))
    return refusal
  }

  private func accept(
    _ path: String, _ authorization: String?, _ body: [UInt8], at now: UnixTime
  ) throws(FCMRefusal) -> FCMMessage {
    guard let project = fcmProject, path == "/v1/projects/\(project.projectID)/messages:send"
    else { throw FCMRefusal(404, state: "NOT_FOUND", "Requested entity was not found.") }
    try project.check(authorization: authorization, at: now)
    let message = try FCMMessage(body: body)
    guard let id = androids.id(ofToken: message.token), let phone = androids.phones[id] else {
      throw FCMRefusal(
        400, state: "INVALID_ARGUMENT", errorCode: "INVALID_ARGUMENT",
        "The registration token is not a valid FCM registration token")
    }
    guard phone.isInstalled, phone.identity.token == message.token else {
      throw FCMRefusal(
        404, state: "NOT_FOUND", errorCode: "UNREGISTERED", "Requested entity was not found.")
    }
    return message
  }

  private mutating func deliver(_ message: FCMMessage, to id: String?, at now: UnixTime) {
    guard let id else { return }
    let findings = androids.act(on: id) { $0.receive(message, at: now) } ?? []
    for finding in findings { fleet.complain(finding, of: id, apnsID: nil, at: now) }
  }
}

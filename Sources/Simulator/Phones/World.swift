import Synchronization
import Vocabulary

/// The fleet and the faults, shared by all threads of the simulator under one lock.
package final class World: Sendable {
  /// How many connections' provider tokens are remembered; the oldest go first.
  static let connectionsMax = 4096

  package struct State: Sendable {
    package var fleet: Fleet
    package var browsers = BrowserFleet()
    package var androids = AndroidFleet()
    /// Nil without credentials: then nobody may send.
    package var fcmProject: FCMProject?
    package var channels = ChannelBook()
    /// Where browsers' subscriptions lead, `https://localhost:9443`; empty until it is served.
    package var webPushOrigin = ""
    package var faults: FaultPlan
    var chance: TokenMint
    var connections: [Connection: ProviderTokenHistory] = [:]
  }

  struct Connection: Hashable, Sendable {
    let environment: APNsEnvironment?
    let number: Int
  }

  /// What came of one request.
  struct Outcome: Sendable {
    /// Nil when it was accepted.
    let refusal: APNsRefusal?
    let apnsID: String
    /// Only the sandbox gives one.
    let uniqueID: String?
    let effects: [OwnedEffect]
  }

  private let state: Mutex<State>
  private let now: @Sendable () -> UnixTime
  private let send: @Sendable ([OwnedEffect]) -> Int

  /// `send` takes the calls that phones want made and says how many it had no room for. It is
  /// called under the lock, so that the calls keep their order, and must return at once.
  init(
    fleet: Fleet, faults: [Fault], seed: UInt64, now: @escaping @Sendable () -> UnixTime,
    send: @escaping @Sendable ([OwnedEffect]) -> Int
  ) {
    state = Mutex(State(fleet: fleet, faults: FaultPlan(faults), chance: TokenMint(seed: ~seed)))
    self.now = now
    self.send = send
  }

  package func read<Value: Sendable>(_ body: (State) -> Value) -> Value {
    state.withLock { body($0) }
  }

  /// Lets something happen; the calls that come of it are on their way when this returns.
  func change<Value: Sendable>(
    _ body: (inout State, UnixTime) throws -> (Value, [OwnedEffect])
  ) rethrows -> Value {
    let now = now()
    return try state.withLock { state in
      let (value, effects) = try body(&state, now)
      let lost = send(effects)
      if lost > 0 {
        let detail = "\(lost) calls found no room among \(CallQueue.callsMax)"
        state.fleet.complain(Finding(.api, detail), of: nil, apnsID: nil, at: now)
      }
      return value
    }
  }

  /// Shows what a bell saw.
  func show(_ inbox: Inbox, on owner: InboxLine.Owner) {
    change { state, now in
      switch owner {
      case .phone(let id):
        let effects = state.fleet.act(on: id, at: now) { phone, _ in
          phone.inbox = inbox
          return []
        }
        return ((), effects)
      case .browser(let id):
        state.act(onBrowser: id, at: now) { browser in
          browser.inbox = inbox
          return []
        }
        return ((), [])
      }
    }
  }

  func complain(_ detail: String, of phoneID: String) {
    change { state, now in
      state.fleet.complain(Finding(.api, detail), of: phoneID, apnsID: nil, at: now)
      return ((), [])
    }
  }
}

extension World.State {
  /// Checks, delivers and writes down one request.
  mutating func settle(
    _ request: APNsRequest, on number: Int, in environment: APNsEnvironment?, fault: Fault?,
    at now: UnixTime
  ) -> World.Outcome {
    var refusal: APNsRefusal?
    var isTaken = false
    var effects: [OwnedEffect] = []
    let phoneID = fleet.phoneID(ofToken: request.token)
    if let fault, !fault.letsThrough {
      if fault.action == .answer {
        refusal = APNsRefusal(
          fault.status ?? 500, fault.reason ?? "InternalServerError",
          // A dead token's answer says since when; that of a fault says since now.
          timestamp: fault.status == 410 ? now.milliseconds : nil)
      }
    } else {
      do {
        effects = try accept(request, on: number, in: environment, at: now)
        isTaken = true
      } catch {
        refusal = error
      }
      if let fault, fault.action == .answer, refusal == nil {
        refusal = APNsRefusal(fault.status ?? 500, fault.reason ?? "InternalServerError")
      }
    }
    if refusal?.status == 200 { refusal = nil }
    var record = PushRecord(
      request, phone: phoneID, refusal: refusal, isTaken: isTaken, fault: fault,
      connection: number, at: now)
    // What cannot be read is for no session.
    let payload = try? request.payload.get()
    let isCook = phoneID.flatMap { fleet.phones[$0]?.identity.app.isCook } ?? true
    record.session = fleet.session(ofToken: request.token, payload)
    if !isCook, let payload {
      if payload.event == .start { record.session = record.collapseID }
      record.state = payload.aps["content-state"]?.stateDigest
    }
    fleet.note(record)
    let isSandbox =
      (environment ?? phoneID.flatMap { fleet.phones[$0]?.identity.environment }) == .sandbox
    return World.Outcome(
      refusal: refusal, apnsID: request.value("apns-id") ?? chance.uuid(),
      uniqueID: isSandbox ? chance.uuid() : nil, effects: effects)
  }

  private mutating func accept(
    _ request: APNsRequest, on number: Int, in environment: APNsEnvironment?, at now: UnixTime
  ) throws(APNsRefusal) -> [OwnedEffect] {
    let connection = World.Connection(environment: environment, number: number)
    var history = connections[connection] ?? ProviderTokenHistory()
    defer {
      connections[connection] = history
      if connections.count > World.connectionsMax,
        let oldest = connections.keys.min(by: { $0.number < $1.number })
      {
        connections[oldest] = nil
      }
    }
    if request.isBroadcast {
      return try broadcast(request, on: &history, in: environment, at: now)
    }
    let push = try fleet.rules.accept(request, on: &history, at: now) { token in
      fleet.standing(of: token, in: environment)
    }
    let effects = fleet.deliver(push, at: now)
    guard push.use == .pushToStart, let phone = fleet.phoneID(ofToken: push.token) else {
      return effects
    }
    return effects + fleet.catchUp(on: phone, with: channels, at: now)
  }
}

extension Fault {
  /// Whether the push reaches the phone although the fault struck.
  var letsThrough: Bool { isAnsweredByRule || delivers == true }

  /// The rules decide about the answer, which comes.
  private var isAnsweredByRule: Bool { action == .delay || action == .limit }

  /// An answer comes, whatever it says.
  var isAnswered: Bool { action == .answer || isAnsweredByRule }
}

extension APNsRequest {
  /// The last part of the path, lower-case: the token when there is one.
  var token: String { path.split(separator: "/").last.map { $0.lowercased() } ?? "" }
}

extension PushRecord {
  init(
    _ request: APNsRequest, phone: String?, refusal: APNsRefusal?, isTaken: Bool, fault: Fault?,
    connection: Int, at now: UnixTime
  ) {
    let payload = try? request.payload.get()  // Without one there is less to show.
    let state = payload?.aps["content-state"]
    self.at = now
    self.phone = phone
    token = request.isBroadcast ? "" : String(request.token.prefix(8))
    channel = request.value("apns-channel-id")
    pushType = request.value("apns-push-type")
    event = payload?.event?.rawValue
    rev = if case .integer(let rev) = state?["rev"] { Int(exactly: rev) } else { nil }
    stamp = payload?.timestamp
    priority = request.value("apns-priority").flatMap { Int($0) }
    apnsID = request.value("apns-id")
    collapseID = request.value("apns-collapse-id")
    bytes = request.body.count
    let isAnswered = fault?.isAnswered ?? true
    status = isAnswered ? refusal?.status ?? 200 : nil
    reason = isAnswered ? refusal?.reason : nil
    self.isTaken = isTaken
    self.fault = fault?.action.rawValue
    if case .string(let text) = state?["updatedAt"], let updatedAt = UnixTime(text) {
      ageMilliseconds = (now - updatedAt).milliseconds
    } else {
      ageMilliseconds = nil
    }
    self.connection = connection
  }
}

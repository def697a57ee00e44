import ActivityContracts
import Pipeline
import Pushes
import Sessions
import Simulator
import TestSupport
import Vocabulary

/// What must be true of every world once the faults have stopped and everything has come to rest.
struct Invariants {
  let world: World
  let people: People
  var found: [String] = []

  init(_ world: World, _ people: People) {
    self.world = world
    self.people = people
  }

  /// `isOver`: the time of every session has run out too.
  func problems(isOver: Bool = false) throws -> [String] {
    var checked = self
    checked.nothingIsLeftOver()
    try checked.everyEventHasOneEnd()
    try checked.everyPhoneShowsTheTruth(isOver: isOver)
    if let shop = world.shop { checked.found += try shop.problems(isOver: isOver) }
    checked.phonesComplainOfNothing()
    checked.everyPushHasOneID()
    if let others = world.others { try checked.otherPhones(others) }
    return checked.found
  }

  // MARK: Queues

  private mutating func nothingIsLeftOver() {
    found += world.broker.violations.map { "broker: \($0)" }
    for queue in ["build", "apns", "notify", "webpush", "fcm", "unroutable"] {
      let left = world.broker.messages(in: queue)
      if !left.isEmpty { found.append("\(left.count) messages are left in \(queue)") }
    }
    if world.inHand > 0 { found.append("\(world.inHand) deliveries are not acknowledged") }
    let depth = (try? world.look { try $0.outboxDepth().events }) ?? -1
    if depth != 0 { found.append("\(depth) events are left in the outbox") }
    if !people.isQuiet { found.append("somebody still waits for an answer") }
  }

  /// Done, stale, superseded, expired or dead, where every stage that is bound to it is concerned;
  /// and nothing is dead, since nothing here is past help.
  private mutating func everyEventHasOneEnd() throws {
    var ends = world.ledger.ends
    var revs: [SessionID: [Int]] = [:]
    var expiries: [SessionID: Int] = [:]
    for stored in world.ledger.events {
      let id = stored.message.id
      for stage in world.broker.stages(boundTo: stored.routingKey) {
        let place = Ledger.Place(stage: stage, message: id)
        if ends.removeValue(forKey: place) == nil {
          found.append("lost: \(stored.routingKey) never came to an end at \(stage.rawValue)")
        }
      }
      if case .session(let session, let mutation) = try Event(reading: stored.message).subject {
        revs[session.id, default: []].append(session.rev)
        if mutation == Mutation.expire.name { expiries[session.id, default: 0] += 1 }
      }
    }
    for place in ends.keys where [.build, .notify].contains(place.stage) {
      found.append("nobody accepted a message that came to an end at \(place.stage.rawValue)")
    }
    for (place, ends) in world.ledger.ends {
      for case .dead(let reason) in ends {
        found.append("dead at \(place.stage.rawValue): \(reason)")
      }
    }
    for (id, revs) in revs {
      let session = try world.look { try $0.session(id) }
      if revs != Array(1...max(1, session?.rev ?? 0)) {
        found.append("events tell of revs \(revs), the session is at \(session?.rev ?? 0)")
      }
      let expired = expiries[id] ?? 0
      if expired > 1 { found.append("one session expired \(expired) times") }
      if (session?.endReason == .ttl) != (expired == 1) {
        found.append(
          "ended by \(session?.endReason?.rawValue ?? "nobody"), expired \(expired) times")
      }
    }
  }

  // MARK: Phones

  private mutating func everyPhoneShowsTheTruth(isOver: Bool) throws {
    for path in people.paths {
      for user in people.users {
        let truth = try people.truth(path, for: user.userID)
        if isOver, !truth.isFinal { found.append("a session outlives its time") }
        let isFirst = truth.participants.first?.userID == user.userID
        for phone in people.phones(of: user.userID) {
          check(
            phone, against: truth, of: user.userID, startsItself: isFirst, isOver: isOver)
        }
        if !isFirst { try checkInvitation(to: user, truth) }
      }
    }
  }

  private mutating func check(
    _ id: String, against truth: SessionAnswer, of user: UserID, startsItself: Bool, isOver: Bool
  ) {
    guard let phone = world.airwaves.fleet.phones[id] else { return }
    let cards = phone.cards.filter { $0.sessionID == truth.id }
    // A wrong clock gave something up before its time.
    if !isOver, world.hasGivenUp(truth.id) { return }
    let hasLeft = truth.participants.contains { $0.userID == user && $0.status == "left" }
    let isDue = !startsItself && !truth.isFinal && !hasLeft && !isUnwanted(truth.id, by: user)
    if cards.isEmpty, isDue, !missedItsStart(id) {
      found.append("\(id) has no card, \(truth.state)")
    }
    // A start whose answer was lost may have made two: each shows the truth.
    for card in cards where card.standing != .dismissed && !world.isOutOfReach(card, on: id) {
      check(card, on: id, against: truth, hasLeft: hasLeft)
    }
  }

  private mutating func check(
    _ card: LockScreenCard, on id: String, against truth: SessionAnswer, hasLeft: Bool
  ) {
    if card.standing.isLive == (truth.isFinal || hasLeft) {
      found.append(
        "\(id) shows a card of \(truth.id) that is \(card.standing), the session is"
          + " \(truth.state)")
    }
    // Who left sees what was true when it left.
    if !hasLeft, card.contentState != truth.shown {
      found.append(
        "\(id) shows rev \(card.rev ?? 0) \(card.contentState["state"] ?? .null), the truth is rev"
          + " \(truth.rev) \(truth.state)")
    }
  }

  /// Who swiped the card away on one phone gets it on no other.
  func isUnwanted(_ session: SessionID, by user: UserID) -> Bool {
    let isOnAndroid = (world.others?.androids(of: user) ?? []).contains { phone in
      phone.cards.contains { $0.sessionID == session && $0.standing == .dismissed }
    }
    return isOnAndroid
      || people.phones(of: user).contains { id in
        world.airwaves.fleet.phones[id]?.cards.contains {
          $0.sessionID == session && $0.standing == .dismissed
        } ?? false
      }
  }

  /// A start dies at APNs when the phone stays away longer than it lives.
  private func missedItsStart(_ phone: String) -> Bool {
    (world.airwaves.expired[phone] ?? []).contains { $0.use == .pushToStart }
  }

  private mutating func checkInvitation(to user: Profile, _ truth: SessionAnswer) throws {
    let key = "cs-invite-\(truth.id)"
    let records = try world.look {
      try $0.notifications(of: user.userID, before: nil, updatedSince: nil, limit: 100)
    }.filter { $0.dedupeKey == key }
    if records.count != 1 { found.append("\(records.count) invitations, want one") }
    if truth.isFinal, records.contains(where: { $0.resolvedReason == nil }) {
      found.append("the invitation to a session that is over is not resolved")
    }
    // A silent push lives for an hour; nobody takes back what the faults held up for longer.
    guard truth.isFinal, !world.ledger.expiredTypes.contains("push.resolve") else { return }
    for id in people.phones(of: user.userID) {
      let banners = world.airwaves.fleet.phones[id]?.banners ?? []
      // What takes it back dies at APNs as well when the phone stays away for too long.
      let missedIt = (world.airwaves.expired[id] ?? []).contains { $0.type == .background }
      if !missedIt, banners.contains(where: { $0.collapseID == key }) {
        found.append("\(id) still shows the banner of an invitation that is over")
      }
    }
  }

  /// A second copy of one start is possible only when the first one's answer was lost.
  private mutating func phonesComplainOfNothing() {
    for complaint in world.airwaves.fleet.complaints where complaint.rule != .doubledStart {
      if complaint.rule == .olderRev, isOvertakenWithinOneSecond(complaint) { continue }
      found.append(
        "\(complaint.phone ?? "nobody"): \(complaint.rule.rawValue): \(complaint.detail)")
    }
  }

  /// Two senders push to one token within one second and the network turns the two round: their
  /// stamps are equal, and only the app's own guard tells them apart. A known limit.
  private func isOvertakenWithinOneSecond(_ complaint: Complaint) -> Bool {
    var newest: [PushToken: (rev: Int64, stamp: Int64)] = [:]
    for arrival in world.airwaves.arrivals {
      let token = arrival.request.token
      guard world.airwaves.fleet.phoneID(ofToken: token.hex) == complaint.phone,
        let aps = (try? JSONValue(parsing: arrival.request.body))?["aps"],
        case .integer(let stamp)? = aps["timestamp"],
        case .integer(let rev)? = aps["content-state"]?["rev"]
      else { continue }
      if let before = newest[token], rev < before.rev {
        if stamp == before.stamp || world.cast.contains(.wrongClock) && stamp > before.stamp {
          return true
        }
      } else {
        newest[token] = (rev, stamp)
      }
    }
    return false
  }

  // MARK: Pushes

  /// One job, one `apns-id`, however often it goes out.
  private mutating func everyPushHasOneID() {
    struct Job: Hashable {
      let token: PushToken
      let what: String
    }
    var ids: [Job: Set<String>] = [:]
    // An alert that arrives again after it was taken back is taken back by another job.
    for arrival in world.airwaves.arrivals where arrival.request.pushType != "background" {
      let request = arrival.request
      let what =
        request.collapseID
        ?? (try? JSONValue(parsing: request.body)).map { body in
          let state = body["aps"]?["content-state"]
          // A state without a rev is told by all it says.
          return
            "\(state?["rev"] ?? body["aps"]?.unstamped ?? .null) \(body["aps"]?["event"] ?? .null)"
        } ?? ""
      ids[Job(token: request.token, what: what), default: []].insert(request.apnsID)
    }
    for (job, ids) in ids where ids.count > 1 {
      found.append("one job went out under \(ids.count) ids: \(job.what)")
    }
  }
}

extension JSONValue {
  fileprivate var unstamped: JSONValue {
    guard case .object(var members) = self else { return self }
    members["timestamp"] = nil
    return .object(members)
  }
}

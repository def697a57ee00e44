import Activities
import ActivityContracts
import Foundation
import Pipeline
import Pushes
import Sessions
import Vocabulary

@testable import Simulator

// Browsers, Android phones, and what a wrong clock excuses.
extension Invariants {
  mutating func otherPhones(_ others: OtherPhones) throws {
    found += others.complaints
    for browser in others.browsers.browsers.values {
      let keys = browser.shown.compactMap(\.content.dedupeKey)
      if Set(keys).count < keys.count {
        found.append("\(browser.identity.id) shows one invitation twice")
      }
      let owner = browser.identity.userID
      let own = Set(people.paths.map { "cs-invite-\($0.split(separator: "/").last ?? "")" })
      for key in keys where !own.contains(key) {
        found.append("\(browser.identity.id) of \(owner) shows \(key), which nobody began")
      }
    }
    for path in people.paths {
      for user in people.users {
        let truth = try people.truth(path, for: user.userID)
        for phone in others.androids(of: user.userID) where phone.isInstalled {
          check(phone, against: truth)
        }
      }
    }
  }

  /// Every message can start the card again, so each phone of each participant shows it, the one's
  /// who began the session too.
  private mutating func check(_ phone: AndroidPhone, against truth: SessionAnswer) {
    let user = phone.identity.userID
    let id = phone.identity.id
    guard !world.hasGivenUp(truth.id) else { return }
    let hasLeft = truth.participants.contains { $0.userID == user && $0.status == "left" }
    let card = phone.cards.last { $0.sessionID == truth.id }
    guard let card else {
      let isDue = !truth.isFinal && !hasLeft && !isUnwanted(truth.id, by: user)
      if isDue { found.append("\(id) has no card, \(truth.state)") }
      return
    }
    guard card.standing != .dismissed else { return }
    if (card.standing == .live) == (truth.isFinal || hasLeft) {
      found.append(
        "\(id) shows a card of \(truth.id) that is \(card.standing), the session is"
          + " \(truth.state)")
    }
    if !hasLeft, card.contentState != truth.shown {
      found.append(
        "\(id) shows rev \(card.rev) \(card.contentState["state"] ?? .null), the truth is rev"
          + " \(truth.rev) \(truth.state)")
    }
  }
}

extension World {
  /// Whether something of this session was given up because its deadline had passed, which a clock
  /// that is ahead makes happen too early. The next mutation, or the session's end, mends it.
  func hasGivenUp(_ session: SessionID) -> Bool {
    cast.contains(.wrongClock) && ledger.expired.contains { Self.session(of: $0) == session }
  }

  private static func session(of message: Message) -> SessionID? {
    if let job = try? PushJob(reading: message) { return job.sessionID }
    if let job = try? FCMJob(reading: message) { return job.sessionID }
    switch (try? Event(reading: message))?.subject {
    case .session(let session, _)?: return session.id
    case .activity(let activity, _)?: return activity.sessionID
    case .token?, nil: return nil
    }
  }

  /// iOS takes no state that is stamped before the one it shows: after a clock that was ahead has
  /// been set back, cards that it reached meanwhile stand still for as long. And what a clock that
  /// is behind sends has expired at Apple before a phone comes back.
  func isOutOfReach(_ card: LockScreenCard, on phone: String) -> Bool {
    guard cast.contains(.wrongClock) else { return false }
    let missed = (airwaves.expired[phone] ?? []).contains { $0.token == card.updateToken }
    return missed
      || airwaves.arrivals.contains { arrival in
        guard arrival.request.token.hex == card.updateToken,
          let aps = (try? JSONValue(parsing: arrival.request.body))?["aps"],
          case .integer(let stamp)? = aps["timestamp"]
        else { return false }
        return stamp < card.timestamp
      }
  }
}

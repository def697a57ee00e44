import ActivityContracts
import Vocabulary

// The cards of Android phones, against what the API says of them.
extension Verdict {
  mutating func judge(
    _ androids: AndroidFleet, ask: (SessionID, String) throws -> SessionAnswer,
    askOwn: (String) throws -> [OwnActivityAnswer]
  ) {
    let sessions = Set(
      androids.phones.values.flatMap(\.cards).filter(\.isCook).map(\.sessionID))
    for id in androids.ids {
      guard let phone = androids.phones[id] else { continue }
      guard phone.isInstalled, phone.isOnline else {
        leftOut += phone.cards.count
        continue
      }
      for card in phone.cards where card.isCook { judge(card, of: phone, ask) }
      for session in sessions.sorted()
      where !phone.cards.contains(where: { $0.sessionID == session }) {
        // Who takes no part is not told: the API does not know the session for them.
        guard let truth = try? ask(session, id), !truth.isFinal else { continue }
        missing += 1
        note(id, session, "no card, the session is \(truth.state)", isDifferent: false)
      }
      judgeActivities(on: phone, askOwn)
    }
  }

  private mutating func judge(
    _ card: AndroidPhone.Card, of phone: AndroidPhone,
    _ ask: (SessionID, String) throws -> SessionAnswer
  ) {
    guard card.standing != .dismissed else {
      leftOut += 1
      return
    }
    do {
      let truth = try ask(card.sessionID, phone.identity.id)
      let hasLeft = truth.participants.contains {
        $0.userID == phone.identity.userID && $0.status == "left"
      }
      compare(
        card, on: phone.identity.id, hasLeft ? card.contentState : truth.shown,
        isLive: !truth.isFinal && !hasLeft)
    } catch {
      unknown.append("\(card.sessionID) as \(phone.identity.id): \(error)")
    }
  }

  private mutating func judgeActivities(
    on phone: AndroidPhone, _ askOwn: (String) throws -> [OwnActivityAnswer]
  ) {
    let id = phone.identity.id
    let truths: [OwnActivityAnswer]
    do {
      truths = try askOwn(id)
    } catch {
      unknown.append("activities as \(id): \(error)")
      return
    }
    for truth in truths {
      guard let card = phone.cards.first(where: { $0.contextKey == truth.contextKey }) else {
        guard truth.state == "live" else { continue }
        missing += 1
        note(id, SessionID(truth.key), "no card, the activity is live", isDifferent: false)
        continue
      }
      if card.standing == .dismissed {
        leftOut += 1
      } else {
        compare(card, on: id, truth.contentState, isLive: truth.state == "live")
      }
    }
  }

  private mutating func compare(
    _ card: AndroidPhone.Card, on id: String, _ truth: JSONValue, isLive: Bool
  ) {
    compared += 1
    var problems = Self.differences(card.contentState, truth)
    if isLive != (card.standing == .live) {
      problems.append("the card is \(card.standing.rawValue), want it \(isLive ? "live" : "ended")")
    }
    guard !problems.isEmpty else {
      equal += 1
      return
    }
    note(id, card.sessionID, problems.joined(separator: "; "))
  }
}

extension AndroidPhone.Card {
  fileprivate var isCook: Bool { kind == CookSuggestActivityAttributes.activityType }
}

import Activities
import ActivityContracts
import Vocabulary

// The cards of activities that a program drives, against what the API says of them.
extension Verdict {
  mutating func judgeActivities(
    on phone: VirtualPhone, _ askOwn: (String) throws -> [OwnActivityAnswer]
  ) {
    let id = phone.identity.id
    guard phone.isInstalled, phone.isOnline else {
      leftOut += phone.cards.count
      return
    }
    let truths: [OwnActivityAnswer]
    do {
      truths = try askOwn(id).filter { $0.attributesType == phone.identity.app.attributesType }
    } catch {
      unknown.append("activities as \(id): \(error)")
      return
    }
    var known: Set<String> = []
    for truth in truths {
      let cards = phone.cards.filter { truth.isShown(by: $0, among: truths) }
      known.formUnion(cards.map(\.activityID))
      guard let card = cards.last else {
        guard truth.state == "live" else { continue }
        missing += 1
        note(id, SessionID(truth.key), "no card, the activity is live", isDifferent: false)
        continue
      }
      if cards.contains(where: { $0.standing == .dismissed }) {
        leftOut += 1
      } else {
        compare(card, on: id, with: truth)
      }
    }
    for card in phone.cards where !known.contains(card.activityID) && card.standing.isLive {
      note(id, card.sessionID, "a card of no activity")
    }
  }

  private mutating func compare(
    _ card: LockScreenCard, on id: String, with truth: OwnActivityAnswer
  ) {
    compared += 1
    var problems = Self.differences(card.contentState, truth.contentState)
    if (truth.state == "live") != card.standing.isLive {
      problems.append("the card is \(card.standing.rawValue), the activity is \(truth.state)")
    }
    guard !problems.isEmpty else {
      equal += 1
      return
    }
    note(id, SessionID(truth.key), problems.joined(separator: "; "))
  }
}

extension OwnActivityAnswer {
  /// Whether the card is of this activity: by its context key where the app knows it, else by its
  /// attributes; of several with the same ones, by what APNs knows the start by.
  fileprivate func isShown(by card: LockScreenCard, among all: [OwnActivityAnswer]) -> Bool {
    if let context = card.contextKey { return context == contextKey }
    guard card.attributes == attributes else { return false }
    let isUnique = all.count { $0.attributes == attributes } == 1
    return isUnique || card.sessionID.text.hasSuffix(":\(key)")
  }
}

extension InstalledContract {
  var isCook: Bool { attributesType == CookSuggestActivityAttributes.activityType }
}

import Vocabulary

/// One mutation that changed something: the activity after it, and how to tell others.
package struct ActivityChange: Hashable, Sendable {
  package let activity: Activity
  package let event: ActivityEventType
  /// `cause.mutation` of the event: `start`, `replace`, `update`, `end` or `expire`.
  package let mutationName: String

  package init(activity: Activity, event: ActivityEventType, mutationName: String) {
    self.activity = activity
    self.event = event
    self.mutationName = mutationName
  }
}

/// What one event says happened.
package enum ActivityEventType: String, Hashable, Sendable, CaseIterable {
  case started, updated, ended

  private static let prefix = "activity."

  /// The event's `type` and routing key, `activity.started`.
  package var typeName: String { Self.prefix + rawValue }

  /// Nil for the type of any other event.
  package init?(typeName: String) {
    guard typeName.hasPrefix(Self.prefix) else { return nil }
    self.init(rawValue: String(typeName.dropFirst(Self.prefix.count)))
  }
}

/// Why a mutation is not done.
package enum ActivityRefusal: Error, Hashable, Sendable {
  /// It has ended, and an ended card does not come back.
  case ended
  /// At `pointer` into the body; `detail` follows the field's name.
  case invalid(pointer: String, detail: String)
}

/// What a start, a replacement or an update says; read and checked by a contract.
package struct ActivityContent: Sendable {
  /// By user, in the order given. An update may name some only.
  package var states: [(user: UserID, state: JSONValue)]
  /// Nil on an update: the screen stays dark.
  package var alert: Activity.Alert?
  /// Nil leaves what was.
  package var staleAt: UnixTime?
  package var relevanceScore: Double?
  package var deepLink: String?
  package var expiresAt: UnixTime?

  package init(
    states: [(user: UserID, state: JSONValue)], alert: Activity.Alert? = nil,
    staleAt: UnixTime? = nil, relevanceScore: Double? = nil, deepLink: String? = nil,
    expiresAt: UnixTime? = nil
  ) {
    self.states = states
    self.alert = alert
    self.staleAt = staleAt
    self.relevanceScore = relevanceScore
    self.deepLink = deepLink
    self.expiresAt = expiresAt
  }
}

extension Activity {
  /// How long an activity goes on when its program says nothing: the life of a Live Activity.
  package static let ttl: Duration = .seconds(8 * 3600)
  /// The longest it may go on.
  package static let ttlMax: Duration = .seconds(30 * 86_400)
  /// How many may have a card of one activity.
  package static let recipientsMax = 500
  /// How many may ever have had one: those who lost it stay in the list, and every event carries
  /// it.
  package static let recipientsEverMax = 1000

  /// The first mutation.
  package static func start(
    _ key: ActivityKey, attributesType: String, attributes: JSONValue, _ content: ActivityContent,
    channel: ActivityChannel? = nil, at now: UnixTime
  ) -> ActivityChange {
    let activity = Activity(
      key: key, attributesType: attributesType, attributes: attributes, state: .live, rev: 1,
      recipients: content.states.map {
        Recipient(userID: $0.user, rev: 1, isPresent: true, contentState: $0.state)
      }, alert: content.alert, alertRev: nil, staleAt: content.staleAt,
      relevanceScore: content.relevanceScore, deepLink: content.deepLink,
      expiresAt: content.expiresAt ?? now + ttl, dismissAt: nil, createdAt: now, updatedAt: now,
      endReason: nil, channel: channel)
    return ActivityChange(activity: activity, event: .started, mutationName: "start")
  }

  /// All that a start says, of an activity that goes on: who is not named any more loses the card.
  ///
  /// - Returns: nil when it says what is so already.
  /// - Throws: ``ActivityRefusal``.
  package func replaced(
    attributesType: String, attributes: JSONValue, with content: ActivityContent,
    channel: ActivityChannel? = nil, at now: UnixTime
  ) throws(ActivityRefusal) -> ActivityChange? {
    guard state == .live else { throw .ended }
    guard attributesType == self.attributesType else {
      throw .invalid(
        pointer: "/attributes_type", detail: "was \(self.attributesType), which never changes")
    }
    guard attributes == self.attributes else {
      throw .invalid(
        pointer: "/attributes",
        detail: "are others than at the start; they never change, and no card would show it")
    }
    guard self.channel?.asksForSame(as: channel) ?? (channel == nil) else {
      throw .invalid(
        pointer: "/channel",
        detail: "is another than at the start; cards listen to what they began with")
    }
    let named = Set(content.states.map(\.user))
    var next = self
    next.staleAt = content.staleAt
    next.relevanceScore = content.relevanceScore
    next.deepLink = content.deepLink
    for place in next.recipients.indices where !named.contains(next.recipients[place].userID) {
      next.recipients[place].isPresent = false
    }
    return try next.taking(content, "replace", changing: self, mayAdd: true, at: now)
  }

  /// New states for those who are named, whole ones.
  ///
  /// - Returns: nil when it says what is so already.
  /// - Throws: ``ActivityRefusal``.
  package func updated(with content: ActivityContent, at now: UnixTime)
    throws(ActivityRefusal) -> ActivityChange?
  {
    guard state == .live else { throw .ended }
    return try taking(content, "update", changing: self, mayAdd: false, at: now)
  }

  private func taking(
    _ content: ActivityContent, _ mutation: String, changing before: Activity, mayAdd: Bool,
    at now: UnixTime
  ) throws(ActivityRefusal) -> ActivityChange? {
    var next = self
    next.staleAt = content.staleAt ?? staleAt
    next.relevanceScore = content.relevanceScore ?? relevanceScore
    next.deepLink = content.deepLink ?? deepLink
    next.expiresAt = content.expiresAt ?? expiresAt
    for (index, (user, state)) in content.states.enumerated() {
      if let place = next.recipients.firstIndex(where: { $0.userID == user }) {
        guard before.recipients[place].isPresent else {
          throw .invalid(
            pointer: "/recipients/\(index)/user_id",
            detail: "names \(user), whose card was taken away; it does not come back")
        }
        next.recipients[place].contentState = state
      } else if mayAdd {
        next.recipients.append(
          Recipient(userID: user, rev: rev + 1, isPresent: true, contentState: state))
      } else {
        throw .invalid(
          pointer: "/recipients/\(index)/user_id", detail: "names \(user), who has no card of it")
      }
    }
    guard next.recipients.count <= Self.recipientsEverMax else {
      throw .invalid(
        pointer: "/recipients",
        detail: "are \(next.recipients.count) with those whose card was taken away, want at most"
          + " \(Self.recipientsEverMax); begin another activity")
    }
    next.alert = content.alert ?? alert
    // A replacement says what shall be, so that said twice it changes nothing; an update with an
    // alert rings again.
    guard next != before || !mayAdd && content.alert != nil else { return nil }
    next.rev = rev + 1
    if content.alert != nil { next.alertRev = next.rev }
    // What all cards carry changes all of them.
    let all =
      next.staleAt != before.staleAt || next.relevanceScore != before.relevanceScore
      || next.deepLink != before.deepLink || next.expiresAt != before.expiresAt
    for place in next.recipients.indices {
      let isNamed = content.states.contains { $0.user == next.recipients[place].userID }
      let hasChanged =
        place >= before.recipients.count || next.recipients[place] != before.recipients[place]
      let goesOn = next.recipients[place].isPresent
      if hasChanged || goesOn && (all || isNamed && content.alert != nil) {
        next.recipients[place].rev = next.rev
      }
    }
    next.updatedAt = now
    return ActivityChange(activity: next, event: .updated, mutationName: mutation)
  }

  /// Ends every card. `states` holds last states by user; those who are not named keep theirs.
  ///
  /// - Returns: nil when it has ended already.
  package func ended(
    _ reason: EndReason, states: [UserID: JSONValue] = [:], dismissAt: UnixTime? = nil,
    at now: UnixTime
  ) -> ActivityChange? {
    guard state == .live else { return nil }
    var next = self
    next.state = .ended
    next.rev = rev + 1
    next.dismissAt = dismissAt
    next.channel?.dueAt = channel?.isOurs == true && channel?.isReady == true ? now : nil
    next.endReason = reason
    next.updatedAt = now
    for place in next.recipients.indices where next.recipients[place].isPresent {
      next.recipients[place].rev = next.rev
      if let state = states[next.recipients[place].userID] {
        next.recipients[place].contentState = state
      }
    }
    return ActivityChange(
      activity: next, event: .ended, mutationName: reason == .ttl ? "expire" : "end")
  }
}

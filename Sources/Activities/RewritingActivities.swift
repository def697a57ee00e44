import Vocabulary

/// How an activity is told again under other names and at another time: what makes a recording safe
/// to share, and lets one file be played many times. Each member leaves as it is what nobody sets.
package struct ActivityRewriting {
  package var key: (ActivityKey) -> ActivityKey = { $0 }
  package var user: (UserID) -> UserID = { $0 }
  /// Any text of its program: in attributes, content states and alerts, and the names of a map.
  package var text: (String) -> String = { $0 }
  package var link: (String) -> String = { $0 }
  /// All moments move by so much, those in content states included.
  package var shift: Duration = .zero

  package init() {}
}

extension Activity {
  /// The same activity, told otherwise: state, revs, numbers and flags stay. What the contract does
  /// not know is dropped, and so is the channel: Apple made it for the other one.
  ///
  /// `contract`: of ``attributesType``; it tells a date from a number and a name from a field.
  package func rewritten(_ rewriting: ActivityRewriting, by contract: any ActivityContract)
    -> Activity
  {
    let teller = Teller(old: key.text, new: rewriting.key(key).text, rewriting)
    return Activity(
      key: ActivityKey(teller.new), attributesType: attributesType,
      attributes: teller.told(attributes, contract.attributes), state: state, rev: rev,
      recipients: recipients.map { recipient in
        Recipient(
          userID: rewriting.user(recipient.userID), rev: recipient.rev,
          isPresent: recipient.isPresent,
          contentState: teller.told(recipient.contentState, contract.contentState))
      },
      alert: alert.map { Alert(title: teller.told($0.title), body: teller.told($0.body)) },
      alertRev: alertRev, staleAt: staleAt.map { $0 + rewriting.shift },
      relevanceScore: relevanceScore, deepLink: deepLink.map(rewriting.link),
      expiresAt: expiresAt + rewriting.shift, dismissAt: dismissAt.map { $0 + rewriting.shift },
      createdAt: createdAt + rewriting.shift, updatedAt: updatedAt + rewriting.shift,
      endReason: endReason, channel: nil)
  }
}

/// Tells the values of one activity otherwise.
private struct Teller {
  let old: String
  let new: String
  let rewriting: ActivityRewriting

  init(old: String, new: String, _ rewriting: ActivityRewriting) {
    self.old = old
    self.new = new
    self.rewriting = rewriting
  }

  /// An app finds its context key where the activity's key stands alone.
  func told(_ text: String) -> String { text == old ? new : rewriting.text(text) }

  func told(_ value: JSONValue, _ shape: Shape) -> JSONValue {
    guard case .object(let members) = value else { return told(value, .text()) }
    var found: [String: JSONValue] = [:]
    for field in shape.fields {
      found[field.name] = members[field.name].map { told($0, field.type) }
    }
    return .object(found)
  }

  private func told(_ value: JSONValue, _ type: FieldType) -> JSONValue {
    switch (type, value) {
    case (.date, .string(let text)):
      return UnixTime(text).map { .string(($0 + rewriting.shift).rfc3339) }
        ?? .string(told(text))
    case (.date(let form), .integer(let whole)) where form != .text:
      return moved(Double(whole))
    case (.date(.apple), .number(let seconds)): return moved(seconds)
    case (.list(let element), .array(let elements)):
      return .array(elements.map { told($0, element) })
    case (.object(let shape), .object): return told(value, shape)
    case (.map(let element), .object(let members)):
      // Two names that become one would be one too few, and nothing worse.
      return .object(
        Dictionary(
          members.sorted { $0.key < $1.key }.map { (told($0.key), told($0.value, element)) },
          uniquingKeysWith: { first, _ in first }))
    // Not of the contract: whatever it is, no text of a person stays.
    case (_, .string(let text)): return .string(told(text))
    case (_, .array(let elements)): return .array(elements.map { told($0, .text()) })
    case (_, .object): return [:]
    default: return value
    }
  }

  private func moved(_ seconds: Double) -> JSONValue {
    let moved = seconds + Double(rewriting.shift.components.seconds)
    return Int64(exactly: moved).map(JSONValue.integer) ?? .number(moved)
  }
}

/// The texts of one language. `{…}` stands for what is put in; each text holds at most one.
package struct Labels: Hashable, Sendable {
  /// A text with a number, `{N}`.
  struct Counted: Hashable, Sendable {
    let one: String
    let other: String

    func callAsFunction(_ count: Int) -> String {
      (count == 1 ? one : other).filled("{N}", String(count))
    }
  }

  /// A text with a person, and the same text for one whose name is unknown: the grammar differs.
  struct Named: Hashable, Sendable {
    let placeholder: String
    let known: String
    let unknown: String

    func callAsFunction(_ name: String?) -> String {
      guard let name, !name.allSatisfy(\.isWhitespace) else { return unknown }
      return known.filled(placeholder, name)
    }
  }

  let partnerIsInvited: Named
  let partnerIsAnswering: Named
  let partnerIsReady: Named
  let partnerLeft: Named
  let waitingForPartner: Named
  let youAreAnswering: String
  let kitchenThinks: String
  let kitchenDoesNotAnswer: String
  let proposalsReady: Counted
  let partnerPicked: String
  let beingServed: String
  let planningEnded: String
  let invitationTitle: Named
  let invitationBody: String
}

extension Labels.Named {
  static func partner(_ known: String, unknown: String) -> Self {
    Self(placeholder: "{Partner}", known: known, unknown: unknown)
  }

  static func initiator(_ known: String, unknown: String) -> Self {
    Self(placeholder: "{Initiator}", known: known, unknown: unknown)
  }
}

extension String {
  /// Puts `value` in the place of the `placeholder`, which the first brace begins; a placeholder
  /// within `value` stays.
  func filled(_ placeholder: String, _ value: String) -> String {
    guard let start = utf8.firstIndex(of: UInt8(ascii: "{")),
      utf8[start...].starts(with: placeholder.utf8)
    else { return self }
    return self[..<start] + value + self[utf8.index(start, offsetBy: placeholder.utf8.count)...]
  }
}

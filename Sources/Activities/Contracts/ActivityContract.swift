import Foundation
import Vocabulary

/// One type of Live Activity as a value: what its app can decode, checked before anything is sent.
///
/// APNs answers 200 to a push that the app cannot decode, and ActivityKit drops it without a word:
/// the card just stops changing. So whatever comes in from outside is read by a contract at the
/// door, strictly and by name, and what a phone will do with it is known beforehand.
///
/// Three kinds exist: the cook session's and Shiny's, whose Swift types are compiled in here, and
/// the declared ones, read from a folder. Nothing but the contract knows the difference.
package protocol ActivityContract: Sendable {
  /// The `attributes-type` of a start: the name ActivityKit looks the Swift type up by.
  var attributesType: String { get }
  /// What a card is started with; it never changes afterwards.
  var attributes: Shape { get }
  /// What a card shows; always sent whole.
  var contentState: Shape { get }
  /// Which member beside `aps` tells the app where a tap leads.
  var linkMember: String { get }
  /// The attribute in which the app finds the activity's key, and so the context key to register
  /// an update token with. Nil: the app cannot tell, and registers the token without one.
  var keyAttribute: String? { get }

  /// What is wrong with a content state beyond its fields, one by one. `state` has been read by
  /// ``contentState`` without a problem.
  func problems(inContentState state: [String: JSONValue]) -> [ContractProblem]
  /// The members of a content state as the app's own encoder would write them; they have no
  /// problem.
  func written(contentState members: [String: JSONValue]) -> [String: JSONValue]
  /// What the phone's plain decoder makes of attributes: JSON text in, and out again as the app's
  /// type would write it.
  ///
  /// - Throws: why it makes nothing of them; on a phone nobody hears of it.
  func decodedAttributes(_ json: Data) throws -> JSONValue
  /// The same of a content state.
  ///
  /// - Throws: why it makes nothing of it.
  func decodedContentState(_ json: Data) throws -> JSONValue
  /// Names the card of `user` that was started with these attributes; nil when they do not say.
  func contextKey(ofAttributes attributes: JSONValue, user: UserID) -> ContextKey?
}

extension ActivityContract {
  package var linkMember: String { "link" }
  package var keyAttribute: String? { nil }

  package func problems(inContentState state: [String: JSONValue]) -> [ContractProblem] { [] }

  package func written(contentState members: [String: JSONValue]) -> [String: JSONValue] {
    members
  }

  package func decodedAttributes(_ json: Data) throws -> JSONValue {
    try attributes.decoded(JSONValue(parsing: json))
  }

  package func decodedContentState(_ json: Data) throws -> JSONValue {
    try contentState.decoded(JSONValue(parsing: json))
  }

  package func contextKey(ofAttributes attributes: JSONValue, user: UserID) -> ContextKey? {
    guard let name = keyAttribute, case .string(let key)? = attributes[name] else { return nil }
    return Activity.contextKey(of: ActivityKey(key), user: user)
  }

  /// Reads attributes from outside.
  ///
  /// - Returns: what is sent, or everything that is wrong.
  package func read(attributes value: JSONValue, now: UnixTime) -> ContractReading {
    attributes.read(value, of: attributesType, now: now)
  }

  /// Reads a content state from outside.
  ///
  /// - Returns: what is sent, or everything that is wrong.
  package func read(contentState value: JSONValue, now: UnixTime) -> ContractReading {
    var reading = contentState.read(value, of: attributesType, now: now)
    if reading.problems.isEmpty, case .object(let members) = reading.value {
      reading.problems = problems(inContentState: members)
      reading.value = .object(written(contentState: members))
    }
    return reading
  }

  /// Words of a content state for an alert, when the caller gives none: iOS starts no card without
  /// one. Nil when no field is a text.
  package func alertWords(in state: JSONValue) -> Activity.Alert? {
    let texts = contentState.fields.compactMap { field -> String? in
      guard case .text = field.type, case .string(let text)? = state[field.name], !text.isEmpty
      else { return nil }
      return text
    }
    guard let title = texts.first else { return nil }
    return Activity.Alert(title: title, body: texts.dropFirst().first ?? title)
  }
}

/// Something that a phone would have swallowed in silence.
package struct ContractProblem: Hashable, Sendable {
  /// JSON pointer from the attributes or the content state on, `/data/orderId`.
  package let pointer: String
  /// What was given, what was wanted, and what ActivityKit would have done with it.
  package let detail: String

  package init(pointer: String, detail: String) {
    self.pointer = pointer
    self.detail = detail
  }
}

/// What came of reading a value by a contract.
package struct ContractReading: Hashable, Sendable {
  /// In the form that is sent; a stand-in when there are problems.
  package var value: JSONValue
  package var problems: [ContractProblem]
}

import ActivityContracts
import Foundation
import Vocabulary

/// The cook session's contract. Every key is always written; what is absent is JSON `null`.
package struct CookSuggestContract: ActivityContract {
  package let attributesType = CookSuggestActivityAttributes.activityType

  package let attributes = Shape([
    .init("sessionId", .text()), .init("date", .text(max: 10)),
    .init("partnerName", .text(), isRequired: false, absent: .null),
    .init("partnerTint", .text(), isRequired: false, absent: .null),
    .init("partnerEmoji", .text(), isRequired: false, absent: .null),
  ])

  package let contentState = Shape([
    .init("statusLabel", .text()), .init("state", .text()),
    .init("deepLinkStep", .text(), isRequired: false, absent: .null),
    .init("proposalCount", .whole),
    .init("partnerPickTitle", .text(), isRequired: false, absent: .null),
    .init("partnerReady", .flag),
    .init("decidedTitle", .text(), isRequired: false, absent: .null),
    .init("updatedAt", .text(), isRequired: false, absent: .null),
    .init("rev", .whole),
    .init("ended", .flag, isRequired: false, absent: .null),
  ])

  package init() {}

  package func decodedAttributes(_ json: Data) throws -> JSONValue {
    try asApp(CookSuggestActivityAttributes.self, json)
  }

  package func decodedContentState(_ json: Data) throws -> JSONValue {
    try asApp(CookSuggestActivityAttributes.ContentState.self, json)
  }

  package func contextKey(ofAttributes attributes: JSONValue, user: UserID) -> ContextKey? {
    guard case .string(let session)? = attributes["sessionId"] else { return nil }
    return ContextKey(
      CookSuggestActivityAttributes.contextKey(sessionID: session, userID: user.text))
  }
}

/// Through the app's own type and the plain decoder that ActivityKit uses.
func asApp<Value: Codable>(_ type: Value.Type, _ json: Data) throws -> JSONValue {
  let value: Value
  do {
    value = try JSONDecoder().decode(type, from: json)
  } catch let error as DecodingError {
    throw Undecodable(description: "\(DecodingProblem(error))")
  }
  return try JSONValue(parsing: JSON.encoded(value))
}

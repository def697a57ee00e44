import Foundation
import Vocabulary

/// Asks for a new phone.
package struct PhoneOrder: Hashable, Sendable, Decodable {
  /// Names the phone in the control API; absent: made from the user's id.
  package var id: String?
  package var userID: UserID
  /// What the owner is called, on the page and in the API's profile.
  package var name: String?
  package var tint: String?
  package var emoji: String?
  package var locale: String?
  /// The JSON web token that the phone's app calls the API with.
  package var token: String
  /// Absent: the one of the settings.
  package var apiURL: String?
  /// Absent: production.
  package var environment: APNsEnvironment?
  /// The kinds of token that its app registers at its start. Absent: `alert` and `la-pushToStart`.
  package var kinds: [String]?
  /// Whether its app has a bell that looks at the API again and again. Absent: no.
  package var bell: Bool?
  /// Absent: it takes everything.
  package var budget: PushBudget?
  /// Which contract its app has; absent: the cook session's.
  package var attributesType: String?
  /// Only of an Android phone: which app it has; absent: the one that the API knows.
  package var package: String?

  enum CodingKeys: String, CodingKey {
    case id, name, tint, emoji, locale, token, environment, kinds, bell, budget, package
    case userID = "user_id"
    case apiURL = "api_url"
    case attributesType = "attributes_type"
  }

  package init(userID: UserID, name: String?, token: String) {
    self.userID = userID
    self.name = name
    self.token = token
  }

  /// The app's first call, when it has a name to tell.
  var profile: PhoneCall? {
    guard let name else { return nil }
    var body: [String: JSONValue] = ["name": .string(name)]
    for (key, value) in [("tint", tint), ("emoji", emoji), ("locale", locale)] {
      if let value { body[key] = .string(value) }
    }
    return PhoneCall(method: "PUT", path: "/api/me", body: .object(body))
  }
}

/// A new phone, and whether the API knows it already.
package struct NewPhone: Hashable, Sendable, Encodable {
  package let id: String
  package let deviceID: String
  package let alertToken: String
  package let pushToStartToken: String
  /// False while a registration waits for the API; it is tried until it was heard.
  package let registered: Bool

  enum CodingKeys: String, CodingKey {
    case id
    case deviceID = "device_id"
    case alertToken = "alert_token"
    case pushToStartToken = "push_to_start_token"
    case registered
  }
}

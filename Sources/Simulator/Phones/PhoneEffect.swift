import Activities
import Vocabulary

/// What a phone wants done after something happened to it.
package enum PhoneEffect: Hashable, Sendable {
  /// Call the Lockstep API; tried again until it was heard.
  case call(PhoneCall)
  case found(Finding)
}

/// One call of a phone's app to the Lockstep API.
package struct PhoneCall: Hashable, Sendable {
  package let method: String
  package let path: String
  package let body: JSONValue

  package init(method: String = "POST", path: String, body: JSONValue) {
    self.method = method
    self.path = path
    self.body = body
  }
}

/// Whose phone it is and how it is reached. Only its push-to-start token ever changes.
package struct PhoneIdentity: Hashable, Sendable {
  /// Names the phone in the control API.
  package let id: String
  package let userID: UserID
  /// What the page calls its owner.
  package let name: String
  package let environment: APNsEnvironment
  package let bundleID: String
  package let deviceID: String
  package let app: InstalledContract
  /// Lower-case digits.
  package let alertToken: String
  /// Lower-case digits; iOS replaces it at times.
  package internal(set) var pushToStartToken: String

  package init(
    id: String, userID: UserID, name: String, environment: APNsEnvironment, bundleID: String,
    app: InstalledContract = InstalledContract(CookSuggestContract()), mint: inout TokenMint
  ) {
    self.id = id
    self.userID = userID
    self.name = name
    self.environment = environment
    self.bundleID = bundleID
    self.app = app
    deviceID = mint.uuid()
    alertToken = mint.hex(digits: TokenMint.deviceDigits)
    pushToStartToken = mint.hex(digits: TokenMint.deviceDigits)
  }

  /// The calls that make the device's two tokens known.
  package var registrations: [PhoneCall] {
    [
      registration(of: alertToken, use: .alert),
      registration(of: pushToStartToken, use: .pushToStart),
    ]
  }

  func registration(of card: LockScreenCard) -> PhoneCall {
    var more: [String: JSONValue] = ["activity_id": .string(card.activityID)]
    if let context = card.contextKey { more["context_key"] = .string(context.text) }
    return registration(of: card.updateToken, use: .update, and: more)
  }

  func report(_ state: String, of card: LockScreenCard) -> PhoneCall {
    var body: [String: JSONValue] = ["state": .string(state)]
    if let context = card.contextKey {
      body["context_key"] = .string(context.text)
    } else {
      body["activity_id"] = .string(card.activityID)
    }
    if let rev = card.rev { body["rev"] = .integer(Int64(rev)) }
    return PhoneCall(path: "/api/live-activities/report", body: .object(body))
  }

  private func registration(
    of token: String, use: TokenUse, and more: [String: JSONValue] = [:]
  ) -> PhoneCall {
    var body: [String: JSONValue] = [
      "token": .string(token), "kind": .string(kindName(of: use)),
      "environment": .string(environment.rawValue), "bundle_id": .string(bundleID),
      "device_id": .string(deviceID),
    ]
    if use != .alert {
      body["attributes_type"] = .string(app.attributesType)
      body["frequent_pushes_enabled"] = true
    }
    return PhoneCall(path: "/api/apns/register", body: .object(body.merging(more) { $1 }))
  }

  private func kindName(of use: TokenUse) -> String {
    guard app.isShiny else { return use.rawValue }
    return switch use {
    case .alert: "Device"
    case .pushToStart: "LiveActivityStart"
    case .update: "LiveActivityUpdate"
    }
  }
}

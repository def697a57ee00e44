import HTTPServing
import Pipeline
import Pushes
import Vocabulary

extension API {
  private static let fcmPath = "/api/fcm/register"
  /// How many Android phones one user may have: what one event can cause stays bounded.
  private static let phonesMax = 100
  private static let deviceIDMax = 128

  static let fcmRoutes: [Route] = [
    Route(.post, fcmPath) { try $0.registerAndroid($1) },
    Route(.delete, fcmPath) { try $0.unregisterAndroid($1) },
  ]

  private func fcmPackages() throws(Problem) -> [String] {
    guard !settings.fcmPackages.isEmpty else {
      throw Problem(
        status: 404, name: "fcm-off", title: "FCM is not configured",
        detail: "This server knows no Android app, so it sends nothing to Android phones.")
    }
    return settings.fcmPackages
  }

  /// Keeps an Android app's token; its user's cards are sent to it at once.
  private func registerAndroid(_ call: Call) throws -> Work {
    let packages = try fcmPackages()
    var body = try call.body()
    let token = body.fcmToken()
    let deviceID = body.optionalText("device_id", max: Self.deviceIDMax)
    let package = body.optionalWord("package", among: packages) {
      packages.contains($0) ? $0 : nil
    }
    if package == nil, packages.count > 1 {
      body.requirePackage(among: packages)
    }
    try body.finish()
    guard let token else { preconditionFailure("a field that is nil was refused") }
    let phone = FCMRegistration(
      userID: call.caller.userID, token: token, deviceID: deviceID,
      packageName: package ?? packages.first, registeredAt: call.now)
    return { rows in
      let present = try rows.fcmRegistrations(of: [phone.userID])[phone.userID] ?? []
      guard present.count < Self.phonesMax || present.contains(where: phone.isAgain) else {
        throw Problem(
          status: 429, name: "too-many-tokens", title: "Too many tokens",
          detail: "You have \(present.count) FCM tokens, at most \(Self.phonesMax) are allowed;"
            + " unregister one.")
      }
      try rows.register(phone)
      return Answer(
        .json(200, ["registered": true]),
        event: Event.outboxEntry(
          registered: phone, id: call.newEventID, at: call.now, traceparent: call.traceparent))
    }
  }

  private func unregisterAndroid(_ call: Call) throws -> Work {
    _ = try fcmPackages()
    var body = try call.body()
    let token = body.fcmToken()
    // An app may send the same JSON as to register.
    body.passOver("device_id")
    body.passOver("package")
    try body.finish()
    return { rows in
      let count = try token.map { try rows.unregister($0, of: call.caller.userID) } ?? 0
      return Answer(.json(200, ["unregistered": count]))
    }
  }
}

extension BodyReader {
  /// Nil after a problem. A token is never quoted: whoever holds it can name that phone.
  fileprivate mutating func fcmToken() -> FCMToken? {
    let text = text("token", max: FCMToken.charactersMax)
    guard !text.isEmpty else { return nil }
    do {
      return try FCMToken(text)
    } catch {
      refuse("token", "\(error)")
      return nil
    }
  }

  fileprivate mutating func requirePackage(among packages: [String]) {
    guard optional("package") == nil else { return }
    let want = packages.map { "\"\($0)\"" }.joined(separator: ", ")
    refuse("package", "is missing, want one of \(want)")
  }
}

extension FCMRegistration {
  fileprivate func isAgain(_ other: FCMRegistration) -> Bool {
    token == other.token || deviceID != nil && deviceID == other.deviceID
  }
}

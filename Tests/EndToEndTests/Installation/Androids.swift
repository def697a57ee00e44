import Cryptography
import Foundation
import HTTPClient
import Testing
import Vocabulary

extension Installation {
  static let androidPackage = "app.example.cook"

  /// Android phones are told as well, by the simulator. Call it before the simulator starts.
  func offerFCM() throws {
    let file = directory.appending(path: "service-account.json")
    let account: JSONValue = [
      "type": "service_account", "project_id": "cook-example", "private_key_id": "key-1",
      "private_key": .string(RSASigningKey.generate().pem),
      "client_email": "push@cook-example.iam.gserviceaccount.com",
      "token_uri": .string("https://localhost:\(fcmPort)/token"),
    ]
    try account.encoded.write(to: file)
    settings["LOCKSTEP_FCM_CREDENTIALS_FILE"] = file.path(percentEncoded: false)
    settings["LOCKSTEP_FCM_URL"] = "https://localhost:\(fcmPort)"
    settings["LOCKSTEP_FCM_CA_FILE"] = settings["LOCKSTEP_APNS_CA_FILE"]
    settings["LOCKSTEP_FCM_PACKAGES"] = Self.androidPackage
  }

  var androids: Androids { Androids(installation: self) }
}

/// The simulator's Android phones, as the tests need them.
struct Androids {
  let installation: Installation

  @discardableResult
  private func call(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue
  {
    let answer = try installation.client.send(
      method, installation.simulatorURL + path, headers: ["content-type": "application/json"],
      body: body?.encoded)
    try #require((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
    return try JSONValue(parsing: answer.body)
  }

  /// An Android phone of `user`, its token registered.
  func add(_ user: String, id: String) throws {
    try call(
      "POST", "/androids",
      [
        "id": .string(id), "user_id": .string(user), "name": .string(user.capitalized),
        "locale": "de-DE", "token": .string(try installation.token(user)),
        "api_url": .string(installation.apiURL),
      ])
  }

  /// `what`: `offline`, `online`, `forget`, `rotate`, `dismiss` or `uninstall`.
  func make(_ phone: String, _ what: String) throws {
    try call("POST", "/androids/\(phone)/\(what)")
  }

  /// No access token that the sender has counts any more.
  func revokeAccessTokens() throws { try call("POST", "/androids/revoke") }

  func seen(_ phone: String) throws -> JSONValue { try call("GET", "/androids/\(phone)") }

  func cards(of phone: String) throws -> [JSONValue] {
    guard case .array(let cards)? = try seen(phone)["cards"] else { return [] }
    return cards
  }
}

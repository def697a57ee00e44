import Cryptography
import Foundation
import Pipeline
import Pushes
import Sessions
import Simulator
import TestSupport
import Vocabulary

/// Keys and bearer tokens of all worlds, made at run time.
enum Keys {
  static let users: JSONWebKeySet = {
    let secret = Base64URL.encode(RandomBytes.make(32))
    let json = #"{"keys":[{"kty":"oct","kid":"simulation","k":"\#(secret)"}]}"#
    do {
      return try JSONWebKeySet(parsing: Data(json.utf8))
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  private static let bearers: [UserID: String] = {
    let expiry = (Samples.noon + .seconds(30 * 24 * 3600)).seconds
    var made: [UserID: String] = [:]
    for (user, scope) in [
      (Samples.dennis.userID, "user"), (Samples.mara.userID, "user"), (People.kitchen, "service"),
      (Shop.customer, "user"), (Shop.service, "service"),
    ] {
      let claims: JSONValue = [
        "sub": .string(user.text), "exp": .integer(expiry), "scope": .string(scope),
      ]
      made[user] = "Bearer \(users.sign(claims: claims) ?? "")"
    }
    return made
  }()

  static func bearer(of user: UserID) -> String { bearers[user] ?? "" }

  // MARK: Web Push

  static let vapid: VAPIDKeys = made { try VAPIDKeys(pem: SigningKey.generate().pem) }
  static let vapidSubject: VAPIDSubject = made { try VAPIDSubject("mailto:ops@app.example") }
  static let pushServices: PushServices = made {
    try PushServices(list: OtherPhones.pushHost)
  }
  static let webPushOutlet = WebPushOutlet(
    route: Samples.routes[.webpush], origin: made { try WebOrigin("https://app.example") })

  private static func made<Value>(_ make: () throws -> Value) -> Value {
    do {
      return try make()
    } catch {
      preconditionFailure("\(error)")
    }
  }

  private static let signing = SigningKey.generate()

  /// The fake APNs of a world looks at no provider token; the rules want a key all the same.
  static func rules() throws -> APNsRules {
    APNsRules(
      bundleID: Samples.bundle,
      providerTokens: try ProviderTokenRules(
        keyID: "KEY", teamID: "TEAM", publicKey: Array(signing.publicKey)))
  }
}

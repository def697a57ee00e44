import Cryptography
import Foundation
import ServiceRuntime
import Vocabulary

/// Keys for one demonstration, made when it starts and thrown away with its directory.
enum DemoKeys {
  static let providerKeyFile = "AuthKey_DEMO123456.p8"

  static func write(into directory: String) throws {
    let keys: JSONValue = [
      "keys": [
        [
          "kty": "oct", "kid": "demo", "alg": "HS256",
          "k": .string(Base64URL.encode(RandomBytes.make(32))),
        ]
      ]
    ]
    try PrivateFile.write(keys.encoded, to: "\(directory)/auth-keys.json")
    try PrivateFile.write(
      Data(SigningKey.generate().pem.utf8), to: "\(directory)/\(providerKeyFile)")
  }

  /// As Firebase's console would give it, for the simulator's stand-in.
  static func writeServiceAccount(into directory: String, fcmPort: UInt16) throws {
    let account: JSONValue = [
      "type": "service_account", "project_id": "cook-example", "private_key_id": "demo",
      "private_key": .string(RSASigningKey.generate().pem),
      "client_email": "push@cook-example.iam.gserviceaccount.com",
      "token_uri": .string("https://localhost:\(fcmPort)/token"),
    ]
    try PrivateFile.write(account.encoded, to: "\(directory)/service-account.json")
  }
}

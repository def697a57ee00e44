import Cryptography
import Foundation
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
    try write(keys.encoded, to: "\(directory)/auth-keys.json")
    try write(Data(SigningKey.generate().pem.utf8), to: "\(directory)/\(providerKeyFile)")
  }

  private static func write(_ data: Data, to path: String) throws {
    try data.write(to: URL(fileURLWithPath: path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
  }
}

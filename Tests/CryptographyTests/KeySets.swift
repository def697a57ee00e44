import Cryptography
import Foundation
import Vocabulary

/// Key sets for tests.
enum KeySets {
  static func make(_ keys: [JSONValue]) throws(JSONWebKeySetError) -> JSONWebKeySet {
    try JSONWebKeySet(parsing: JSONValue.object(["keys": .array(keys)]).encoded)
  }

  static func secret(_ bytes: [UInt8], id: String) -> JSONValue {
    ["kty": "oct", "kid": .string(id), "k": .string(Base64URL.encode(bytes))]
  }

  static func ellipticCurve(_ key: SigningKey, id: String) -> JSONValue {
    [
      "kty": "EC", "crv": "P-256", "kid": .string(id),
      "x": .string(Base64URL.encode(key.publicKey[1...32])),
      "y": .string(Base64URL.encode(key.publicKey[33...64])),
    ]
  }

  static let modulus = """
    ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d\
    4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexM\
    dbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvU\
    K-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ
    """

  /// The public key of RFC 7515, A.2.
  static func rsa(id: String) -> JSONValue {
    ["kty": "RSA", "kid": .string(id), "n": .string(modulus), "e": "AQAB"]
  }
}

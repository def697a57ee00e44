import Cryptography
import Testing
import Vocabulary

/// The examples of RFC 7515, appendix A.
@Suite struct TokenVectorTests {
  private static let claims =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
  private let before = UnixTime(seconds: 1_300_819_379)

  private static let hs256 = (
    key: JSONValue.object([
      "kty": "oct", "kid": "a1",
      "k":
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
    ]),
    token: "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(claims)."
      + "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  )

  private static let rs256 = (
    key: KeySets.rsa(id: "a2"),
    token: "eyJhbGciOiJSUzI1NiJ9.\(claims)." + """
      cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp\
      5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHl\
      b1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9Q\
      OYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw
      """
  )

  private static let es256 = (
    key: JSONValue.object([
      "kty": "EC", "kid": "a3", "crv": "P-256",
      "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
      "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    ]),
    token: "eyJhbGciOiJFUzI1NiJ9.\(claims)."
      + "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
  )

  @Test(arguments: [hs256, rs256, es256])
  func `the published token verifies with its key alone`(key: JSONValue, token: String) throws {
    let claims = try KeySets.make([key]).verify(token, now: before)
    #expect(
      claims == ["iss": "joe", "exp": 1_300_819_380, "http://example.com/is_root": true])
  }

  @Test(arguments: [hs256, rs256, es256])
  func `a published token with any other byte does not verify`(key: JSONValue, token: String) throws
  {
    let set = try KeySets.make([key])
    let parts = token.split(separator: ".").map(String.init)
    let changed = parts[1].replacing("eyJpc3MiOiJqb2Ui", with: "eyJpc3MiOiJqb2Yi")
    #expect(throws: TokenRefusal.badSignature) {
      try set.verify("\(parts[0]).\(changed).\(parts[2])", now: before)
    }
    var signature = try #require(Base64URL.decode(parts[2]))
    for place in [0, signature.count / 2, signature.count - 1] {
      signature[place] ^= 1
      #expect(throws: TokenRefusal.badSignature) {
        try set.verify(
          "\(parts[0]).\(parts[1]).\(Base64URL.encode(signature))", now: before)
      }
      signature[place] ^= 1
    }
    for wrong in [Array(signature.dropLast()), signature + [0], [], [0]] {
      #expect(throws: TokenRefusal.badSignature) {
        try set.verify("\(parts[0]).\(parts[1]).\(Base64URL.encode(wrong))", now: before)
      }
    }
  }
}

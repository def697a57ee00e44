import Pushes
import Testing

@Suite struct PushTokenTests {
  @Test(arguments: [2, 64, 160, 200, 512])
  func `B-7 an even number of digits up to 512 is a token`(digits: Int) throws {
    let hex = String(repeating: "aB", count: digits / 2)
    #expect(try PushToken(hex: hex).hex == hex.lowercased())
  }

  @Test(arguments: [
    ("", PushTokenError.empty),
    ("abc", .oddLength(digits: 3)),
    (String(repeating: "a", count: 63), .oddLength(digits: 63)),
    ("zz", .notHexadecimal), ("ab cd", .notHexadecimal), ("äb", .notHexadecimal),
    ("<ab>", .notHexadecimal), ("0xab", .notHexadecimal),
    (String(repeating: "a", count: 514), .tooLong(digits: 514)),
    (String(repeating: "a", count: 513), .tooLong(digits: 513)),
  ])
  func `anything else is refused, with what was given`(hex: String, error: PushTokenError) {
    #expect(throws: error) { try PushToken(hex: hex) }
  }

  @Test func `the refusal says what was given and what was wanted`() {
    #expect("\(PushTokenError.tooLong(digits: 514))" == "has 514 digits; want at most 512")
    #expect("\(PushTokenError.oddLength(digits: 3))" == "has 3 digits; want an even number")
  }

  @Test func `logs show a fingerprint, never the token`() throws {
    let token = try PushToken(hex: String(repeating: "ab", count: 32))
    #expect("\(token)" == token.fingerprint)
    #expect(token.fingerprint.count == 8)
    #expect(!token.hex.contains(token.fingerprint))
  }

  @Test func `upper and lower case are the same token`() throws {
    #expect(try PushToken(hex: "ABCD") == PushToken(hex: "abcd"))
  }

  @Test(arguments: [
    ("alert", TokenKind.alert), ("Device", .alert), ("la-pushToStart", .pushToStart),
    ("LiveActivityStart", .pushToStart), ("la-update", .update), ("LiveActivityUpdate", .update),
  ])
  func `both spellings of a kind are read`(name: String, kind: TokenKind) {
    #expect(TokenKind(name: name) == kind)
  }

  @Test(arguments: ["", "Alert", "la-start"])
  func `an unknown kind is none`(name: String) {
    #expect(TokenKind(name: name) == nil)
  }
}

import HTTPServing
import Pipeline
import Sessions
import Vocabulary

extension API {
  private static let nameMax = 100
  private static let tintMax = 32
  private static let emojiMax = 32
  private static let localeMax = 35

  static let profileRoutes: [Route] = [
    Route(.put, "/api/me") { try $0.saveProfile($1) }
  ]

  /// Replaces the caller's profile: what is left out is gone. Sessions that run keep the name they
  /// began with.
  private func saveProfile(_ call: Call) throws -> Work {
    var body = try call.body()
    let profile = Profile(
      userID: call.caller.userID, name: body.text("name", max: Self.nameMax),
      tint: body.optionalText("tint", max: Self.tintMax),
      emoji: body.optionalText("emoji", max: Self.emojiMax),
      locale: body.optionalText("locale", max: Self.localeMax))
    if let locale = profile.locale, !isLanguageTag(locale) {
      body.refuse("locale", "is \"\(locale)\", want a BCP 47 tag such as de-DE")
    }
    try body.finish()
    return { rows in
      try rows.save(profile)
      return Answer(.json(200, WrittenProfile(profile: profile)))
    }
  }
}

private struct WrittenProfile: Encodable {
  let profile: Profile

  enum CodingKeys: String, CodingKey {
    case userID = "user_id"
    case name, tint, emoji, locale
  }

  func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(profile.userID, forKey: .userID)
    try members.encode(profile.name, forKey: .name)
    try members.encode(profile.tint, forKey: .tint)
    try members.encode(profile.emoji, forKey: .emoji)
    try members.encode(profile.locale, forKey: .locale)
  }
}

/// Letters, then parts of letters and digits behind `-`; `_` as Apple's locales have it is taken
/// too.
private func isLanguageTag(_ text: String) -> Bool {
  let parts = text.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "_" }
  guard let language = parts.first, language.utf8.allSatisfy(isLetter) else { return false }
  return (2...8).contains(language.utf8.count)
    && parts.dropFirst().allSatisfy { part in
      (1...8).contains(part.utf8.count) && part.utf8.allSatisfy { isLetter($0) || isDigit($0) }
    }
}

private func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
private func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

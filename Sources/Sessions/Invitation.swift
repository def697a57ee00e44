import Vocabulary

/// What the invited partner is told, on each of the three channels.
package struct Invitation: Hashable, Sendable {
  package static let icon = "✨"

  /// Without emoji.
  package let title: String
  package let body: String
  /// Path within the app and the web origin.
  package let link: String
  /// One invitation per session and user, however often it is asked for.
  package let dedupeKey: String
}

extension Session {
  /// `cs-invite-{sessionId}`.
  package var invitationDedupeKey: String { "cs-invite-\(id)" }

  /// Path within the app and the web origin.
  package var invitationLink: String { "/cook-suggest/\(id)" }

  /// The invitation in the language of the one who is invited.
  package func invitation(language: Language) -> Invitation {
    Invitation(
      title: language.labels.invitationTitle(initiator?.name?.withoutEmoji),
      body: language.labels.invitationBody,
      link: invitationLink, dedupeKey: invitationDedupeKey)
  }
}

extension String {
  /// What is left when emoji are taken out, with single spaces; keeps digits and `#`, which
  /// Unicode also counts as emoji.
  fileprivate var withoutEmoji: String {
    let plain = utf8.allSatisfy { $0 < 0x80 } ? self : String(filter { !$0.isEmoji })
    return plain.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}

extension Character {
  fileprivate var isEmoji: Bool {
    guard let first = unicodeScalars.first else { return false }
    return first.properties.isEmojiPresentation
      || first.properties.isEmoji && unicodeScalars.contains("\u{FE0F}")
  }
}

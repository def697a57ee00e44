import Activities
import Cryptography
import Foundation
import Pipeline
import Sessions
import Vocabulary

/// Replaces whatever tells of a person by a stand-in that is the same wherever the original stands.
///
/// The stand-ins are made with a key that is drawn for one recording and kept nowhere: who has the
/// file cannot try names until one fits. Texts keep their length, so that payloads keep theirs.
package struct StandIns: Sendable {
  private static let names = [
    "Ada", "Bo", "Cleo", "Dario", "Ela", "Finn", "Greta", "Hugo", "Ines", "Jon", "Kaja", "Levi",
    "Mina", "Nils", "Olga", "Piet", "Quinn", "Rosa", "Sami", "Tilda", "Udo", "Vera", "Wim", "Yara",
  ]
  private static let emoji = ["🐢", "🐠", "🦊", "🐝", "🦉", "🐙", "🐌", "🦔"]
  private static let tints = ["teal", "coral", "amber", "plum", "moss", "sky"]
  private static let syllables = [
    "ba", "cho", "di", "fen", "gra", "ho", "ju", "kel", "li", "mo", "nu", "pe", "ri", "sa", "to",
    "wu",
  ]

  private let key: [UInt8]

  package init(key: [UInt8] = RandomBytes.make(32)) { self.key = key }

  /// All that a session holds of people and their food.
  package var rewriting: Rewriting {
    var rewriting = Rewriting()
    rewriting.session = { SessionID("cs_" + digits("session", $0.text)) }
    rewriting.user = user
    rewriting.job = { JobID("job_" + digits("job", $0.text)) }
    rewriting.proposal = { ProposalID("p_" + digits("proposal", $0.text)) }
    rewriting.name = { user, _ in pick(Self.names, "name", user.text) }
    rewriting.tint = { user, _ in pick(Self.tints, "tint", user.text) }
    rewriting.emoji = { user, _ in pick(Self.emoji, "emoji", user.text) }
    rewriting.title = text
    rewriting.keepsDetails = false
    return rewriting
  }

  /// All that an activity holds of people and their business.
  package var activityRewriting: ActivityRewriting {
    var rewriting = ActivityRewriting()
    rewriting.key = { ActivityKey("a_" + digits("activity", $0.text)) }
    rewriting.user = user
    rewriting.text = text
    rewriting.link = { "lockstep://stand-in/" + digits("link", $0) }
    return rewriting
  }

  package func user(_ id: UserID) -> UserID { UserID("u_" + digits("user", id.text)) }

  /// Words that mean nothing, as long as the text in Unicode scalars.
  package func text(_ text: String) -> String {
    let length = text.unicodeScalars.count
    var words = ""
    var draws = code("text", text)
    while words.count < length {
      if draws.isEmpty { draws = code("more", words) }
      let draw = Int(draws.removeLast())
      words += Self.syllables[draw % 16]
      if draw >= 160, words.count < length - 3 { words += " " }
    }
    return String(words.prefix(length)).capitalized
  }

  private func digits(_ kind: String, _ text: String) -> String {
    let hexadecimal = Array("0123456789abcdef")
    return String(
      code(kind, text).prefix(8).flatMap {
        [hexadecimal[Int($0 >> 4)], hexadecimal[Int($0 & 15)]]
      })
  }

  private func pick(_ words: [String], _ kind: String, _ text: String) -> String {
    words[Int(code(kind, text)[0]) % words.count]
  }

  private func code(_ kind: String, _ text: String) -> [UInt8] {
    HMACSHA256.code(of: Array("\(kind) \(text)".utf8), key: key)
  }
}

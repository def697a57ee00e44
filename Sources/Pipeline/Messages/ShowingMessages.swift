import Cryptography
import Pushes

/// How a message is shown to a person: without whole push tokens, which name a device to whoever
/// holds them.
extension Message {
  /// The headers as text, with the token's fingerprint instead of the token.
  package var shownHeaders: [(name: String, value: String)] {
    headers.sorted { $0.key < $1.key }.map { name, value in
      let text =
        switch value {
        case .text(let text): text
        case .integer(let integer): "\(integer)"
        case .flag(let flag): "\(flag)"
        }
      let isToken = name == PushJob.tokenHeader
      return (name, isToken ? TokenFolding.fingerprint(text) : TokenFolding.fold(text))
    }
  }

  /// The body as text; what is not UTF-8 shows as replacement characters.
  package var shownBody: String { TokenFolding.fold(String(decoding: body, as: UTF8.self)) }
}

/// Replaces what looks like a push token by its fingerprint.
package enum TokenFolding {
  /// Shorter runs of hexadecimal digits are ids and traces.
  static let digitsMin = 40

  /// As ``PushToken`` and ``FCMToken`` have it. Of APNs' the case does not count, of FCM's it does.
  package static func fingerprint(_ token: String) -> String {
    let isHex = token.utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    return Digest.sha256(isHex ? token.lowercased() : token).hex(digits: 8)
  }

  package static func fold(_ text: String) -> String {
    var folded = ""
    var run = ""
    func flush() {
      folded += run.utf8.count >= digitsMin ? fingerprint(run) : run
      run = ""
    }
    for character in text {
      if character.isASCII, character.isHexDigit {
        run.append(character)
      } else {
        flush()
        folded.append(character)
      }
    }
    flush()
    return folded
  }
}

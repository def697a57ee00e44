import Vocabulary

/// A reason without what differs from message to message, so that equal troubles count as one.
///
/// Whole numbers become `N`, words with digits in them (ids) become `…`. HTTP statuses, three
/// digits from 400 to 599, stay.
package enum FoldedReason {
  /// Longer reasons are cut, in characters.
  static let charactersMax = 200

  package static func of(_ reason: String) -> String {
    var folded = ""
    var word = ""
    for character in reason + " " {
      if character.isLetter || character.isNumber || "_-".contains(character) {
        word.append(character)
      } else {
        folded += fold(word)
        word = ""
        // Newlines too.
        let isObeyed = character.unicodeScalars.contains(where: \.isObeyedByTerminals)
        folded.append(isObeyed ? " " : character)
      }
    }
    return String(folded.dropLast().prefix(charactersMax))
  }

  private static func fold(_ word: String) -> String {
    guard word.contains(where: \.isNumber) else { return word }
    guard word.allSatisfy(\.isNumber) else { return "…" }
    if word.count == 3, let number = Int(word), (400...599).contains(number) { return word }
    return "N"
  }
}

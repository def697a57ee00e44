import Vocabulary

extension LiveActivityPayload {
  /// Text of people, which may be cut; everything else is a name or a number and stays whole.
  private static let texts: Set<String> = [
    "statusLabel", "partnerPickTitle", "decidedTitle", "partnerName", "title", "body",
  ]
  /// Below this many bytes a text is left alone: cutting it further would say nothing any more.
  private static let textBytesMin = 24

  /// Cuts the longest text at a grapheme boundary and ends it with `…`.
  ///
  /// - Returns: false when there is nothing left to cut.
  mutating func shortenLongestText(byAtLeast excess: Int) -> Bool {
    var longest = 0
    forEachText { longest = max(longest, $0.utf8.count) }
    guard longest > Self.textBytesMin else { return false }
    let target = max(Self.textBytesMin, longest - max(excess, 8))
    mapTexts { $0.utf8.count == longest ? $0.shortened(toBytes: target) : $0 }
    return true
  }

  private func forEachText(_ body: (String) -> Void) {
    var copy = self
    copy.mapTexts {
      body($0)
      return $0
    }
  }

  private mutating func mapTexts(_ change: (String) -> String) {
    contentState = Self.mapped(contentState, change)
    if case .start(let type, let attributes, let title, let body) = event {
      event = .start(
        attributesType: type, attributes: Self.mapped(attributes, change),
        alertTitle: change(title), alertBody: change(body))
    }
  }

  private static func mapped(_ value: JSONValue, _ change: (String) -> String) -> JSONValue {
    guard case .object(var members) = value else { return value }
    for (name, member) in members where texts.contains(name) {
      if case .string(let text) = member { members[name] = .string(change(text)) }
    }
    return .object(members)
  }
}

extension String {
  /// At most `limit` UTF-8 bytes, cut between graphemes and ended with `…` when cut.
  package func shortened(toBytes limit: Int) -> String {
    guard utf8.count > limit else { return self }
    var kept = ""
    var bytes = "…".utf8.count
    for character in self {
      bytes += character.utf8.count
      if bytes > limit { break }
      kept.append(character)
    }
    while kept.last?.isWhitespace == true { kept.removeLast() }
    return kept + "…"
  }
}

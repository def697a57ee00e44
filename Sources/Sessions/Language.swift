/// A language that Lockstep speaks to users.
package enum Language: String, Hashable, Sendable, CaseIterable {
  case german = "de"
  case english = "en"

  /// From a BCP 47 tag: English for `en`, `en-GB`, `en_US`; German for everything else and nil.
  package init(locale: String?) {
    let language = locale?.prefix { $0 != "-" && $0 != "_" }
    self = language?.lowercased() == "en" ? .english : .german
  }

  /// All texts in this language.
  package var labels: Labels {
    switch self {
    case .german: .german
    case .english: .english
    }
  }
}

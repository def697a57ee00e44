/// Statements of one table. Raw values are literals, so no value can be pasted into the text, and a
/// test can look at the plan of each.
protocol SQLText: RawRepresentable<String>, CaseIterable, Sendable {}

extension SQLText {
  static var texts: [String] { allCases.map(\.rawValue) }
}

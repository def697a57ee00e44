// The files of this folder are compiled into each store. What they name and do not say is the
// store's own: `SQLTransaction`, its connection, and its statements, such as `TokenSQL.register`.

/// Statements of one table. Raw values are literals, so no value can be pasted into the text, and a
/// test can look at the plan of each.
protocol SQLText: RawRepresentable<String>, CaseIterable, Sendable {}

extension SQLText {
  static var texts: [String] { allCases.map(\.rawValue) }
}

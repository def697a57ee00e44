import Synchronization
import Vocabulary

/// Writes one line per event, as text for people or JSON for machines. Tokens appear in it only as
/// fingerprints, and no personal text.
package struct Log: Sendable {
  package enum Form: String, Sendable { case text, json }

  package enum Level: String, Sendable, CaseIterable, Comparable {
    case debug, info, warning, error

    package static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }

    private var rank: Int {
      switch self {
      case .debug: 0
      case .info: 1
      case .warning: 2
      case .error: 3
      }
    }
  }

  private let form: Form
  private let least: Level
  private let context: [(String, String)]
  private let now: @Sendable () -> UnixTime
  private let write: @Sendable (String) -> Void

  /// Of one field; what is longer is cut.
  package static let valueBytesMax = 4096

  package init(
    form: Form, level: Level, role: String, now: @escaping @Sendable () -> UnixTime,
    write: @escaping @Sendable (String) -> Void = Log.standardError
  ) {
    self.form = form
    least = level
    context = [("role", role)]
    self.now = now
    self.write = write
  }

  /// Drops everything: for tests.
  package static let discarding = Log(
    form: .text, level: .error, role: "", now: { UnixTime(milliseconds: 0) }, write: { _ in })

  package func debug(_ event: String, _ fields: KeyValuePairs<String, String> = [:]) {
    line(.debug, event, fields)
  }
  package func info(_ event: String, _ fields: KeyValuePairs<String, String> = [:]) {
    line(.info, event, fields)
  }
  package func warning(_ event: String, _ fields: KeyValuePairs<String, String> = [:]) {
    line(.warning, event, fields)
  }
  package func error(_ event: String, _ fields: KeyValuePairs<String, String> = [:]) {
    line(.error, event, fields)
  }

  private func line(_ level: Level, _ event: String, _ fields: KeyValuePairs<String, String>) {
    guard level >= least else { return }
    let all = context + fields.map { ($0.key, cut($0.value)) }
    switch form {
    case .text:
      let written = all.map { "\($0.0)=\(quoted($0.1))" }.joined(separator: " ")
      write("\(now().rfc3339) \(level.rawValue) \(event) \(written)\n")
    case .json:
      var members = Dictionary(all.map { ($0.0, JSONValue.string($0.1)) }) { _, last in last }
      members["time"] = .string(now().rfc3339)
      members["level"] = .string(level.rawValue)
      members["event"] = .string(event)
      write(String(decoding: JSONValue.object(members).encoded, as: UTF8.self) + "\n")
    }
  }

  /// What a stranger sent may be in it, of any length.
  private func cut(_ value: String) -> String {
    guard value.utf8.count > Self.valueBytesMax else { return value }
    return String(decoding: value.utf8.prefix(Self.valueBytesMax), as: UTF8.self) + "…"
  }

  private func quoted(_ value: String) -> String {
    let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 32 && $0 != 34 && $0 != 61 }
    let text = isPlain ? value : String(decoding: JSONValue.string(value).encoded, as: UTF8.self)
    // JSON escapes only the first of them.
    return text.visible
  }

  /// One write(2) per line, so that lines of several threads do not mix.
  package static let standardError: @Sendable (String) -> Void = { StandardStream.error.write($0) }
}

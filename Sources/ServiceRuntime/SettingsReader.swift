import Vocabulary

/// Reads settings from flags and the environment, flags first, and collects every problem with the
/// value given and what was wanted. A value that was given is never replaced by a default.
///
/// `LOCKSTEP_HTTP_ADDR` and `--http-addr` are the same setting. OpenTelemetry's own names, `OTEL_…`
/// and `--otel-…`, stand without our prefix.
package struct SettingsReader {
  package static let prefix = "LOCKSTEP_"

  private let environment: [String: String]
  private let flags: [String: String]
  package private(set) var problems: [String] = []

  /// `flags`: by setting name, `HTTP_ADDR`.
  package init(environment: [String: String], flags: [String: String]) {
    self.environment = environment
    self.flags = flags
  }

  /// The environment variable of a setting: `LOCKSTEP_HTTP_ADDR` for `HTTP_ADDR`.
  package static func variable(_ name: String) -> String {
    name.hasPrefix("OTEL_") ? name : prefix + name
  }

  /// What started this process, as the environment tells: no setting of ours.
  package var supervisor: Supervisor { Supervisor(environment: environment) }

  /// The flag of a setting: `--http-addr` for `HTTP_ADDR`.
  package static func flag(_ name: String) -> String {
    "--" + name.lowercased().replacing("_", with: "-")
  }

  private func source(_ name: String) -> (value: String, shownName: String)? {
    if let value = flags[name] { return (value, Self.flag(name)) }
    let variable = Self.variable(name)
    if let value = environment[variable], !value.isEmpty {
      return (value, variable)
    }
    return nil
  }

  /// Notes a problem with a value; secrets are not shown. The same problem is noted once, however
  /// many parts of the process read the setting.
  package mutating func refuse(_ name: String, _ complaint: String, isSecret: Bool = false) {
    let problem =
      if let (value, shownName) = source(name) {
        "\(shownName)=\(isSecret ? "…" : value): \(complaint)"
      } else {
        "\(Self.variable(name)) is not set: \(complaint)"
      }
    if !problems.contains(problem) { problems.append(problem) }
  }

  /// Notes each variable that is none of `known` and named almost as one: by a slip of the finger a
  /// value would be passed over, and the default be in force.
  package mutating func refuseMisspelled(among known: [String]) {
    let given = environment.keys.filter { $0.hasPrefix(Self.prefix) }
      .map { String($0.dropFirst(Self.prefix.count)) }
    for name in Set(given).subtracting(known).sorted() {
      guard let meant = known.first(where: { SpellingSlip.turns($0, into: name) }) else { continue }
      problems.append(
        "\(Self.variable(name)): there is no such setting; is \(Self.variable(meant)) meant?")
    }
  }

  package func text(_ name: String) -> String? { source(name)?.value }

  /// Empty, with a problem noted, when it is not set.
  package mutating func requiredText(_ name: String, want: String) -> String {
    guard let value = text(name) else {
      refuse(name, "want \(want)")
      return ""
    }
    return value
  }

  package mutating func integer(_ name: String, in range: ClosedRange<Int>, default fallback: Int)
    -> Int
  {
    guard let value = text(name) else { return fallback }
    guard let number = Int(value), range.contains(number) else {
      refuse(name, "want a whole number from \(range.lowerBound) to \(range.upperBound)")
      return fallback
    }
    return number
  }

  package mutating func seconds(_ name: String, in range: ClosedRange<Int>, default fallback: Int)
    -> Duration
  {
    guard let value = text(name) else { return .seconds(fallback) }
    guard let number = Int(value), range.contains(number) else {
      refuse(name, "want whole seconds from \(range.lowerBound) to \(range.upperBound)")
      return .seconds(fallback)
    }
    return .seconds(number)
  }

  /// Reads with `read`; what it throws becomes the problem.
  package mutating func value<Value>(
    _ name: String, isSecret: Bool = false, _ read: (String) throws -> Value
  ) -> Value? {
    guard let text = text(name) else { return nil }
    do {
      return try read(text)
    } catch {
      refuse(name, "\(error)", isSecret: isSecret)
      return nil
    }
  }

  /// As ``value(_:isSecret:_:)``; not being set is a problem too.
  package mutating func required<Value>(
    _ name: String, want: String, isSecret: Bool = false, _ read: (String) throws -> Value
  ) -> Value? {
    guard text(name) != nil else {
      refuse(name, "want \(want)")
      return nil
    }
    return value(name, isSecret: isSecret, read)
  }
}

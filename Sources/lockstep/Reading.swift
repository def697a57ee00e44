import Cryptography
import Foundation
import Pipeline
import ServiceRuntime

/// How settings of several commands are read. Each function throws what is wrong with the value, in
/// words that follow it.
enum Reading {
  struct Complaint: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }

  /// All problems, one line each.
  static func failure(_ settings: SettingsReader) -> CommandFailure {
    CommandFailure(.configuration, settings.problems.joined(separator: "\n          "))
  }

  static func file(_ path: String) throws -> Data {
    try GivenFile.contents(path)
  }

  /// What ``callerKeys(_:want:)`` reads.
  static let callerKeyNames = ["AUTH_KEYS_FILE", "AUTH_ISSUER", "AUTH_AUDIENCE"]

  /// The keys of callers' tokens, and what the tokens must say.
  static func callerKeys(_ settings: inout SettingsReader, want: String) -> JSONWebKeySet? {
    var keys = settings.required("AUTH_KEYS_FILE", want: want) {
      try JSONWebKeySet(parsing: file($0))
    }
    keys?.issuer = settings.text("AUTH_ISSUER")
    keys?.audience = settings.text("AUTH_AUDIENCE")
    return keys
  }

  /// `sqlite:///absolute/path`, as the path.
  static func sqlitePath(_ url: String) throws -> String {
    let prefix = "sqlite://"
    guard url.hasPrefix(prefix + "/"), url.count > prefix.count + 1 else {
      throw Complaint("want sqlite:///absolute/path")
    }
    return String(url.dropFirst(prefix.count))
  }

  /// `text`, `json`, either with `:level`.
  static func logForm(_ value: String) throws -> (form: Log.Form, level: Log.Level) {
    let parts = value.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (1...2).contains(parts.count), let form = Log.Form(rawValue: parts[0]),
      let level = parts.count == 1 ? .info : Log.Level(rawValue: parts[1])
    else {
      throw Complaint(
        "want text or json, and a level: json:debug, json:info, text:warning, text:error")
    }
    return (form, level)
  }

  static func log(_ settings: inout SettingsReader, role: String) -> Log {
    let (form, level) = settings.value("LOG", logForm) ?? (.text, .info)
    return Log(form: form, level: level, role: role, now: { SystemTime().now() })
  }
}

import ServiceRuntime

/// The words after a subcommand: its settings as flags, its own options, and the rest.
struct Arguments: Sendable {
  /// By setting name, `HTTP_ADDR`.
  private(set) var settings: [String: String] = [:]
  /// By flag without dashes; the empty text for a flag without a value.
  private(set) var options: [String: String] = [:]
  private(set) var words: [String] = []

  /// - Throws: ``CommandFailure`` naming the flag that the command does not have, or lacks a value.
  init(_ given: [String], for command: Command) throws {
    let settingsByFlag = Dictionary(
      uniqueKeysWithValues: command.settings.map { (SettingsReader.flag($0), $0) })
    var rest = given[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--") else {
        words.append(word)
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let flag = String(parts[0])
      let name = String(flag.dropFirst(2))
      if command.options.contains(where: { $0.flag == flag }) {
        // `--all=false` must not mean all.
        guard parts.count == 1 else { throw CommandFailure(.usage, "\(flag) takes no value") }
        options[name] = ""
        continue
      }
      let takesValue = command.options.contains { $0.flag == flag + "=" }
      guard takesValue || settingsByFlag[flag] != nil else {
        throw CommandFailure(
          .usage, "\(command.name) has no flag \(flag); see lockstep \(command.name) --help")
      }
      guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
        throw CommandFailure(.usage, "\(flag) wants a value")
      }
      if let setting = settingsByFlag[flag] {
        settings[setting] = value
      } else {
        options[name] = value
      }
    }
    if command.operand != nil { return }
    if let unknown = words.first(where: { !command.words.contains($0) }) {
      let wanted =
        command.words.isEmpty
        ? "no such word" : "want \(command.words.joined(separator: " or "))"
      throw CommandFailure(.usage, "\(command.name): \"\(unknown)\": \(wanted)")
    }
  }
}

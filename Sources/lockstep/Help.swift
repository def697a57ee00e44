import ServiceRuntime

/// What `lockstep help` and `lockstep <command> --help` print.
enum Help {
  static var overview: String {
    let width = Command.all.map(\.name.count).max() ?? 0
    let lines = Command.all.map { "  \(padded($0.name, width))   \($0.summary)" }
    return """
      lockstep: the server side of multi-person Live Activities

      \(lines.joined(separator: "\n"))
        \(padded("help", width))   this text

      lockstep <command> --help names its settings. Each is an environment variable and a flag:
      LOCKSTEP_HTTP_ADDR and --http-addr.
      """
  }

  static func text(of command: Command) -> String {
    var lines = ["lockstep \(command.name): \(command.summary)"]
    if !command.words.isEmpty {
      lines.append("\n  lockstep \(command.name) \(command.words.joined(separator: " | "))")
    }
    if let operand = command.operand { lines.append("\n  lockstep \(command.name) \(operand)") }
    let options = command.options.map { option in
      let takesValue = option.flag.hasSuffix("=")
      return (takesValue ? option.flag.dropLast() + " VALUE" : option.flag[...], option.help)
    }
    if !options.isEmpty {
      lines.append("\nOptions")
      lines += options.map { "  \(padded(String($0), 28)) \($1)" }
    }
    let settings = SettingCatalog.all.filter { command.settings.contains($0.name) }
    if !settings.isEmpty {
      lines.append("\nSettings (environment or flag)")
      for setting in settings {
        lines.append(
          "  \(SettingsReader.variable(setting.name)), \(SettingsReader.flag(setting.name))")
        lines.append("      \(setting.help)")
      }
    }
    if let notes = command.notes { lines.append("\n\(notes)") }
    return lines.joined(separator: "\n")
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

import ServiceRuntime

/// Standard output and error of a command that prints tables.
struct Prints: Sendable {
  let isJSON: Bool
  private let style: Style

  init(_ invocation: Invocation) {
    isJSON = invocation.arguments.options["json"] != nil
    style = Style(environment: invocation.environment)
  }

  /// As `--json` asks; `otherwise` stands where an aligned table would be empty.
  func table(_ table: Table, otherwise: String) {
    if isJSON {
      print(table.json)
    } else {
      print(table.rows.isEmpty ? otherwise : table.text(style))
    }
  }

  /// For people: below the table, but not among JSON.
  func below(_ text: String) { if isJSON { aside(text) } else { print(text) } }

  /// For people, beside the table.
  func aside(_ text: String) { StandardStream.error.write("\(text)\n") }
}

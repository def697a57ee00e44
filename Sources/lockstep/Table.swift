import Foundation
import Vocabulary

/// Rows under named columns: aligned for people, an array of flat objects for programs.
struct Table {
  /// In snake_case, as the keys of the objects.
  let columns: [String]
  private(set) var rows: [[JSONValue]] = []

  init(_ columns: [String]) { self.columns = columns }

  /// One value per column.
  mutating func add(_ row: [JSONValue]) {
    precondition(row.count == columns.count, "one value per column")
    rows.append(row)
  }

  /// An object per row.
  var objects: JSONValue {
    .array(rows.map { .object(Dictionary(uniqueKeysWithValues: zip(columns, $0))) })
  }

  /// One line, keys in the order of the alphabet.
  var json: String { String(decoding: objects.encoded, as: UTF8.self) }

  /// Columns padded to their widest value; the head only when there are rows.
  func text(_ style: Style) -> String {
    guard !rows.isEmpty else { return "" }
    let head = columns.map { $0.uppercased().replacing("_", with: " ") }
    let cells = rows.map { $0.map(Self.cell) }
    let widths = columns.indices.map { place in
      ([head] + cells).map { $0[place].count }.max() ?? 0
    }
    func line(_ row: [String]) -> String {
      var line = ""
      for (place, cell) in row.enumerated() {
        line += cell
        if place < row.count - 1 {
          line += String(repeating: " ", count: widths[place] - cell.count + 2)
        }
      }
      return line
    }
    return ([style.strong(line(head))] + cells.map(line)).joined(separator: "\n")
  }

  private static func cell(_ value: JSONValue) -> String {
    switch value {
    case .null: "-"
    case .string(let text): text.isEmpty ? "-" : text.visible
    case .integer(let number): "\(number)"
    case .bool(let flag): flag ? "yes" : "no"
    default: String(decoding: value.encoded, as: UTF8.self).visible
    }
  }
}

/// Colours, only where a person looks at a terminal that has them.
struct Style {
  let isColoured: Bool

  /// For standard output. `NO_COLOR` (any value) switches colours off.
  init(environment: [String: String]) {
    isColoured =
      isatty(STDOUT_FILENO) == 1 && (environment["NO_COLOR"] ?? "").isEmpty
      && environment["TERM"] != "dumb"
  }

  func strong(_ text: String) -> String { painted(text, "1") }
  func faint(_ text: String) -> String { painted(text, "2") }
  func good(_ text: String) -> String { painted(text, "32") }
  func bad(_ text: String) -> String { painted(text, "31") }

  private func painted(_ text: String, _ code: String) -> String {
    isColoured ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}

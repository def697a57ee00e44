/// One value of a YAML file and where it begins.
struct YAMLNode {
  enum Content {
    /// Text as written, without its quotes.
    case scalar(String)
    case sequence([YAMLNode])
    /// In the file's order; no key twice.
    case mapping([(key: String, mark: Mark, value: YAMLNode)])
  }

  let content: Content
  let mark: Mark

  /// What it is, for messages.
  var kind: String {
    switch content {
    case .scalar(let text): "\"\(text.prefix(60))\""
    case .sequence: "a list"
    case .mapping: "a mapping"
    }
  }
}

/// A place in the file; lines and columns count from 1.
package struct Mark: Hashable, Sendable, Comparable {
  package let line: Int
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  package static func < (left: Self, right: Self) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}

/// One thing wrong with queues.yaml.
package struct TopologyProblem: Hashable, Sendable, CustomStringConvertible {
  package let mark: Mark
  package let message: String

  package init(_ mark: Mark, _ message: String) {
    self.mark = mark
    self.message = message
  }

  package var description: String { "\(mark.line):\(mark.column): \(message)" }
}

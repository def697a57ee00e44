import Vocabulary

/// Collects what is wrong while a file is read, so that all of it is named at once.
final class ProblemList {
  private(set) var problems: [TopologyProblem] = []

  func add(_ mark: Mark, _ message: String) { problems.append(TopologyProblem(mark, message)) }
}

/// The entries of one mapping, taken out by key. Whatever does not fit becomes a problem and reads
/// as the fallback, so that reading goes on.
struct YAMLFields {
  let mark: Mark
  /// What the mapping is, for messages: `stage build`.
  let title: String
  private let values: [String: YAMLNode]
  private let problems: ProblemList

  /// Any key that is not among `known` is a problem.
  init(_ node: YAMLNode, _ title: String, known: [String], problems: ProblemList) {
    mark = node.mark
    self.title = title
    self.problems = problems
    var values: [String: YAMLNode] = [:]
    if case .mapping(let entries) = node.content {
      for entry in entries {
        if known.contains(entry.key) {
          values[entry.key] = entry.value
        } else {
          problems.add(
            entry.mark,
            "\(title): unknown key \"\(entry.key)\"; known are \(known.joined(separator: ", "))")
        }
      }
    } else {
      problems.add(node.mark, "\(title): a mapping is wanted, not \(node.kind)")
    }
    self.values = values
  }

  func node(_ key: String) -> YAMLNode? { values[key] }

  func required(_ key: String) -> YAMLNode? {
    if values[key] == nil { problems.add(mark, "\(title): \"\(key)\" is missing") }
    return values[key]
  }

  func text(_ key: String) -> TopologyDeclaration.Named? {
    required(key).flatMap { name($0, "\(title): \(key)") }
  }

  func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
    guard let node = values[key] else { return nil }
    if case .scalar(let text) = node.content, let number = Int(text), range.contains(number) {
      return number
    }
    problems.add(
      node.mark,
      "\(title): \(key) must be a whole number from \(range.lowerBound) to \(range.upperBound), "
        + "not \(node.kind)")
    return nil
  }

  func flag(_ key: String) -> Bool {
    guard let node = values[key] else { return false }
    switch node.content {
    case .scalar("true"): return true
    case .scalar("false"): return false
    default:
      problems.add(node.mark, "\(title): \(key) must be true or false, not \(node.kind)")
      return false
    }
  }

  func duration(_ key: String) -> Duration? {
    values[key].flatMap { node in
      guard case .scalar(let text) = node.content, let duration = Duration(written: text) else {
        problems.add(
          node.mark, "\(title): \(key) must be a time such as 5s, 2m or 1h, not \(node.kind)")
        return nil
      }
      return duration
    }
  }

  /// The names of a list; empty when there is none.
  func names(_ key: String) -> [TopologyDeclaration.Named] {
    guard let node = values[key] else { return [] }
    return items(node, "\(title): \(key)").compactMap { name($0, "\(title): \(key)") }
  }

  func items(_ node: YAMLNode, _ title: String) -> [YAMLNode] {
    if case .sequence(let items) = node.content { return items }
    problems.add(node.mark, "\(title): a list is wanted, not \(node.kind)")
    return []
  }

  func entries(_ key: String) -> [(key: String, mark: Mark, value: YAMLNode)] {
    guard let node = values[key] else { return [] }
    if case .mapping(let entries) = node.content { return entries }
    problems.add(node.mark, "\(title): \(key) must be a mapping, not \(node.kind)")
    return []
  }

  /// A name of an exchange or queue, or a pattern: what AMQP's short strings hold.
  private func name(_ node: YAMLNode, _ title: String) -> TopologyDeclaration.Named? {
    guard case .scalar(let text) = node.content else {
      problems.add(node.mark, "\(title): a name is wanted, not \(node.kind)")
      return nil
    }
    let allowed = text.utf8.allSatisfy {
      (48...57).contains($0) || (65...90).contains($0) || (97...122).contains($0)
        || "._-*#".utf8.contains($0)
    }
    guard allowed, !text.isEmpty, text.utf8.count <= 200, !text.hasPrefix("amq.") else {
      problems.add(
        node.mark,
        "\(title): a name of 1 to 200 letters, digits, \".\", \"_\" and \"-\" that does not begin "
          + "with \"amq.\" is wanted, not \(node.kind)")
      return nil
    }
    return TopologyDeclaration.Named(name: text, mark: node.mark)
  }
}

extension Duration {
  /// Reads `250ms`, `5s`, `2m`, `1h`, `7d`; nil for anything else, zero, and more than 30 days.
  init?(written text: String) {
    let units: [(String, Int64)] = [
      ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let unit = units.first(where: { $0.0 == text.dropFirst(digits.count) })?.1,
      let count = Int64(digits), count > 0, count <= 30 * 86_400_000 / unit
    else { return nil }
    self = .milliseconds(count * unit)
  }
}

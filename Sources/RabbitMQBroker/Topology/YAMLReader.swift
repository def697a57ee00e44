import CYAML

/// Reads one YAML document into nodes with libyaml's events. Anchors, aliases, tags and a second
/// document are refused: queues.yaml has no use for them.
struct YAMLReader {
  static let maximumSize_bytes = 256 * 1024
  static let maximumDepth = 16

  private let parser: UnsafeMutablePointer<yaml_parser_t>

  /// - Throws: ``YAMLRefused`` with the place of the first thing that is not YAML.
  static func read(_ text: String) throws(YAMLRefused) -> YAMLNode {
    let bytes = Array(text.utf8)
    guard bytes.count <= maximumSize_bytes else {
      throw YAMLRefused(
        Mark(line: 1, column: 1),
        "the file has \(bytes.count) bytes, at most \(maximumSize_bytes) are wanted")
    }
    let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
    defer { parser.deallocate() }
    guard yaml_parser_initialize(parser) == 1 else {
      throw YAMLRefused(Mark(line: 1, column: 1), "no memory for the YAML parser")
    }
    defer { yaml_parser_delete(parser) }
    let input = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(bytes.count, 1))
    defer { input.deallocate() }
    _ = input.initialize(from: bytes)
    yaml_parser_set_input_string(parser, input.baseAddress, bytes.count)
    return try YAMLReader(parser: parser).document()
  }

  private func document() throws(YAMLRefused) -> YAMLNode {
    _ = try next()
    let start = try next()
    guard start.type == YAML_DOCUMENT_START_EVENT else {
      throw YAMLRefused(start.mark, "the file is empty")
    }
    let node = try node(try next(), depth: 1)
    _ = try next()
    let end = try next()
    guard end.type == YAML_STREAM_END_EVENT else {
      throw YAMLRefused(end.mark, "a second document; one is wanted")
    }
    return node
  }

  private func node(_ event: Event, depth: Int) throws(YAMLRefused) -> YAMLNode {
    guard depth <= Self.maximumDepth else {
      throw YAMLRefused(event.mark, "nested deeper than \(Self.maximumDepth) levels")
    }
    switch event.type {
    case YAML_SCALAR_EVENT:
      return YAMLNode(content: .scalar(event.text), mark: event.mark)
    case YAML_SEQUENCE_START_EVENT:
      var items: [YAMLNode] = []
      while case let item = try next(), item.type != YAML_SEQUENCE_END_EVENT {
        items.append(try node(item, depth: depth + 1))
      }
      return YAMLNode(content: .sequence(items), mark: event.mark)
    case YAML_MAPPING_START_EVENT:
      var entries: [(key: String, mark: Mark, value: YAMLNode)] = []
      while case let key = try next(), key.type != YAML_MAPPING_END_EVENT {
        guard key.type == YAML_SCALAR_EVENT else {
          throw YAMLRefused(key.mark, "a key must be plain text")
        }
        if let first = entries.first(where: { $0.key == key.text }) {
          throw YAMLRefused(
            key.mark, "key \"\(key.text)\" stands here again, first on line \(first.mark.line)")
        }
        entries.append((key.text, key.mark, try node(try next(), depth: depth + 1)))
      }
      return YAMLNode(content: .mapping(entries), mark: event.mark)
    default:
      throw YAMLRefused(event.mark, "aliases are not supported")
    }
  }

  private struct Event {
    let type: yaml_event_type_t
    let mark: Mark
    let text: String
  }

  private func next() throws(YAMLRefused) -> Event {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw refusal() }
    defer { yaml_event_delete(&event) }
    let mark = Mark(
      line: Int(event.start_mark.line) + 1, column: Int(event.start_mark.column) + 1)
    var text = ""
    var isDecorated = false
    switch event.type {
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      text = String(
        decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self)
      isDecorated = scalar.anchor != nil || scalar.tag != nil
    case YAML_SEQUENCE_START_EVENT:
      isDecorated =
        event.data.sequence_start.anchor != nil || event.data.sequence_start.tag != nil
    case YAML_MAPPING_START_EVENT:
      isDecorated = event.data.mapping_start.anchor != nil || event.data.mapping_start.tag != nil
    default: break
    }
    guard !isDecorated else { throw YAMLRefused(mark, "anchors and tags are not supported") }
    return Event(type: event.type, mark: mark, text: text)
  }

  private func refusal() -> YAMLRefused {
    let place = parser.pointee.problem_mark
    let problem = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
    return YAMLRefused(
      Mark(line: Int(place.line) + 1, column: Int(place.column) + 1), "not YAML: \(problem)")
  }
}

/// The file is not YAML as we read it.
struct YAMLRefused: Error {
  let problem: TopologyProblem
  init(_ mark: Mark, _ message: String) { problem = TopologyProblem(mark, message) }
}

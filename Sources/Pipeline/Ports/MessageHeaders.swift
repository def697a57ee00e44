/// What a message says beside its body. A list: of a dozen names each is found sooner by looking
/// through them than by hashing, and none has to be hashed to be kept.
package struct MessageHeaders: Sendable {
  package typealias Element = (key: String, value: HeaderValue)

  /// No name twice.
  private var list: [Element] = []

  package init() {}

  /// Room for as many as will be put in.
  package init(capacity: Int) { list.reserveCapacity(capacity) }

  package init(_ headers: [String: HeaderValue]) { list = Array(headers) }

  package subscript(_ name: String) -> HeaderValue? {
    get { place(of: name).map { list[$0].value } }
    set {
      switch (place(of: name), newValue) {
      case (let place?, let value?): list[place].value = value
      case (let place?, nil): list.remove(at: place)
      case (nil, let value?): list.append((name, value))
      case (nil, nil): break
      }
    }
  }

  /// Most names differ in length already.
  private func place(of name: String) -> Int? {
    let length = name.utf8.count
    return list.withUnsafeBufferPointer { list in
      list.indices.first { list[$0].key.utf8.count == length && list[$0].key == name }
    }
  }

  package func filter(_ isKept: (Element) throws -> Bool) rethrows -> MessageHeaders {
    var kept = MessageHeaders()
    kept.list = try list.filter(isKept)
    return kept
  }

  /// By name.
  package var dictionary: [String: HeaderValue] {
    // Names that differ in their bytes may be one to a dictionary.
    Dictionary(list.map { ($0.key, $0.value) }) { first, _ in first }
  }
}

extension MessageHeaders: RandomAccessCollection {
  package var startIndex: Int { list.startIndex }
  package var endIndex: Int { list.endIndex }
  package subscript(position: Int) -> Element { list[position] }
}

extension MessageHeaders: ExpressibleByDictionaryLiteral {
  package init(dictionaryLiteral elements: (String, HeaderValue)...) {
    list.reserveCapacity(elements.count + 4)
    for (name, value) in elements { self[name] = value }
  }
}

/// Their order says nothing.
extension MessageHeaders: Hashable {
  package static func == (left: MessageHeaders, right: MessageHeaders) -> Bool {
    left.count == right.count && left.allSatisfy { right[$0.key] == $0.value }
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(list.count) }
}

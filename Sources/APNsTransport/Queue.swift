/// First in, first out.
struct Queue<Element> {
  private var items: [Element] = []
  private var head = 0

  var count: Int { items.count - head }
  var isEmpty: Bool { head == items.count }
  var first: Element? { isEmpty ? nil : items[head] }

  mutating func append(_ item: Element) { items.append(item) }

  mutating func popFirst() -> Element? {
    guard head < items.count else { return nil }
    let item = items[head]
    head += 1
    if head == items.count {
      items.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 1024, head * 2 > items.count {
      items.removeFirst(head)
      head = 0
    }
    return item
  }

  mutating func removeAll() {
    items.removeAll()
    head = 0
  }
}

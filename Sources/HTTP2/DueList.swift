/// What is due when: a binary heap, the earliest first.
struct DueList<Item> {
  private var heap: [(due: Duration, item: Item)] = []

  var earliest: Duration? { heap.first?.due }

  mutating func insert(_ item: Item, due: Duration) {
    heap.append((due, item))
    var child = heap.count - 1
    while child > 0, heap[child].due < heap[(child - 1) / 2].due {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  /// The earliest item that is due at `now`; nil when none is.
  mutating func take(dueAt now: Duration) -> Item? {
    guard let first = heap.first, first.due <= now else { return nil }
    let last = heap.removeLast()
    guard !heap.isEmpty else { return first.item }
    heap[0] = last
    var parent = 0
    while true {
      var least = parent
      for child in [2 * parent + 1, 2 * parent + 2]
      where child < heap.count && heap[child].due < heap[least].due {
        least = child
      }
      guard least != parent else { return first.item }
      heap.swapAt(parent, least)
      parent = least
    }
  }
}

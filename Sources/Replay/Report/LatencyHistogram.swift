import Foundation

/// How long things took, in buckets of some nine percent: 1 ms to days in less than 3 KB. A value.
package struct LatencyHistogram: Hashable, Sendable {
  /// Buckets per doubling.
  private static let perDoubling = 8.0
  private static let bucketsMax = 8 * 30

  private var counts: [Int32] = []
  package private(set) var count = 0
  /// Milliseconds.
  package private(set) var largest = 0.0

  package init() {}

  package mutating func add(_ milliseconds: Double) {
    let bucket = Self.bucket(of: milliseconds)
    while counts.count <= bucket { counts.append(0) }
    counts[bucket] += 1
    count += 1
    largest = max(largest, milliseconds)
  }

  package mutating func add(_ other: LatencyHistogram) {
    while counts.count < other.counts.count { counts.append(0) }
    for place in other.counts.indices { counts[place] += other.counts[place] }
    count += other.count
    largest = max(largest, other.largest)
  }

  /// `share` from 0 to 1: 0.5 is the median. Milliseconds, at most nine percent too much; nil when
  /// nothing was added.
  package func percentile(_ share: Double) -> Double? {
    guard count > 0 else { return nil }
    let wanted = max(1, Int((Double(count) * share).rounded(.up)))
    var seen = 0
    for (bucket, amount) in counts.enumerated() {
      seen += Int(amount)
      if seen >= wanted { return min(Self.upperBound(of: bucket), largest) }
    }
    return largest
  }

  private static func bucket(of milliseconds: Double) -> Int {
    min(Int((log2(max(milliseconds, 0) + 1) * perDoubling).rounded(.up)), bucketsMax - 1)
  }

  private static func upperBound(of bucket: Int) -> Double {
    exp2(Double(bucket) / perDoubling) - 1
  }
}

/// Values over the time of a run, in at most ``slotsMax`` slots: when the run grows longer, two
/// slots become one.
package struct TimeSlots<Slot: Sendable>: Sendable {
  package static var slotsMax: Int { 600 }

  /// Seconds of one slot; doubles.
  package private(set) var width = 1.0
  package private(set) var slots: [Slot?] = []
  private let merge: @Sendable (Slot, Slot) -> Slot

  /// `merge`: what two neighbouring slots are together, the earlier one first.
  package init(merge: @escaping @Sendable (Slot, Slot) -> Slot) { self.merge = merge }

  /// Changes the slot of a moment, seconds since the run began; `empty` when it has none yet.
  package mutating func change(
    at seconds: Double, empty: @autoclosure () -> Slot, _ body: (inout Slot) -> Void
  ) {
    while Int(max(0, seconds) / width) >= Self.slotsMax { halve() }
    let place = Int(max(0, seconds) / width)
    while slots.count <= place { slots.append(nil) }
    var slot = slots[place] ?? empty()
    body(&slot)
    slots[place] = slot
  }

  private mutating func halve() {
    slots = stride(from: 0, to: slots.count, by: 2).map { place in
      guard place + 1 < slots.count, let second = slots[place + 1] else { return slots[place] }
      return slots[place].map { merge($0, second) } ?? second
    }
    width *= 2
  }

  /// Each slot that has a value, with its begin in seconds.
  package var points: [(at: Double, slot: Slot)] {
    slots.enumerated().compactMap { place, slot in slot.map { (Double(place) * width, $0) } }
  }
}

import Synchronization

/// What one process counts, in the Prometheus text format.
///
/// A metric is made on first use and kept; asking again for the same name and labels gives the same
/// one. Names start with `lockstep_`.
package final class Metrics: Sendable {
  private struct Family {
    let help: String
    let type: String
    var series: [String: Series] = [:]
  }

  private enum Series {
    case counter(Counter)
    case gauge(Gauge)
    case histogram(Histogram)
    case reading(@Sendable () -> Double)
  }

  private let families = Mutex<[String: Family]>([:])

  package init() {}

  package func counter(_ name: String, help: String, labels: [String: String] = [:]) -> Counter {
    let made = series(name, help: help, type: "counter", labels: labels) { .counter(Counter()) }
    guard case .counter(let counter) = made else { preconditionFailure("\(name) is no counter") }
    return counter
  }

  package func gauge(_ name: String, help: String, labels: [String: String] = [:]) -> Gauge {
    let made = series(name, help: help, type: "gauge", labels: labels) { .gauge(Gauge()) }
    guard case .gauge(let gauge) = made else { preconditionFailure("\(name) is no gauge") }
    return gauge
  }

  /// `buckets`: upper bounds in rising order; `+Inf` is added.
  package func histogram(
    _ name: String, help: String, buckets: [Double], labels: [String: String] = [:]
  ) -> Histogram {
    let made = series(name, help: help, type: "histogram", labels: labels) {
      .histogram(Histogram(buckets: buckets))
    }
    guard case .histogram(let histogram) = made else {
      preconditionFailure("\(name) is no histogram")
    }
    return histogram
  }

  /// A metric whose value is asked for whenever the text is made; `isCounter`: it only rises.
  ///
  /// Asked for again, `read` takes the place of the one before.
  package func reading(
    _ name: String, help: String, isCounter: Bool = false, _ read: @escaping @Sendable () -> Double
  ) {
    families.withLock {
      $0[name] = Family(
        help: help, type: isCounter ? "counter" : "gauge", series: ["": .reading(read)])
    }
  }

  /// Says that a metric exists before anything was counted: for one whose labels come only then.
  package func announce(_ name: String, help: String, type: String) {
    families.withLock { $0[name] = $0[name] ?? Family(help: help, type: type) }
  }

  private func series(
    _ name: String, help: String, type: String, labels: [String: String], make: () -> Series
  ) -> Series {
    let key = Self.written(labels)
    return families.withLock { families in
      var family = families[name] ?? Family(help: help, type: type)
      let series = family.series[key] ?? make()
      family.series[key] = series
      families[name] = family
      return series
    }
  }

  /// The exposition format 0.0.4, families and series sorted.
  package func text() -> String {
    let now = families.withLock { $0 }
    var lines: [String] = []
    for (name, family) in now.sorted(by: { $0.key < $1.key }) {
      lines.append("# HELP \(name) \(family.help)")
      lines.append("# TYPE \(name) \(family.type)")
      for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
        switch series {
        case .counter(let counter): lines.append("\(name)\(braced(labels)) \(counter.value)")
        case .gauge(let gauge): lines.append("\(name)\(braced(labels)) \(number(gauge.value))")
        case .reading(let read): lines.append("\(name)\(braced(labels)) \(number(read()))")
        case .histogram(let histogram): lines += histogram.lines(name: name, labels: labels)
        }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func written(_ labels: [String: String]) -> String {
    labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value))\"" }
      .joined(separator: ",")
  }

  private static func escaped(_ value: String) -> String {
    value.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
  }
}

/// Only rises.
package final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  package var value: Int { count.load(ordering: .relaxed) }
  package func add(_ amount: Int = 1) { count.wrappingAdd(amount, ordering: .relaxed) }
}

/// A value of now.
package final class Gauge: Sendable {
  private let bits = Atomic<UInt64>(0)
  package var value: Double { Double(bitPattern: bits.load(ordering: .relaxed)) }
  package func set(_ value: Double) { bits.store(value.bitPattern, ordering: .relaxed) }
}

/// How often values fell under each bound. Observes seconds.
package final class Histogram: Sendable {
  private struct Tally {
    var counts: [Int]
    var sum = 0.0
  }

  package let buckets: [Double]
  private let tally: Mutex<Tally>

  init(buckets: [Double]) {
    self.buckets = buckets
    tally = Mutex(Tally(counts: Array(repeating: 0, count: buckets.count + 1)))
  }

  package func observe(_ value: Double) {
    let place = buckets.firstIndex { value <= $0 } ?? buckets.count
    tally.withLock {
      $0.counts[place] += 1
      $0.sum += value
    }
  }

  fileprivate func lines(name: String, labels: String) -> [String] {
    let now = tally.withLock { $0 }
    var lines: [String] = []
    var total = 0
    for (bound, count) in zip(buckets.map(number) + ["+Inf"], now.counts) {
      total += count
      let all = (labels.isEmpty ? "" : labels + ",") + "le=\"\(bound)\""
      lines.append("\(name)_bucket{\(all)} \(total)")
    }
    lines.append("\(name)_sum\(braced(labels)) \(number(now.sum))")
    lines.append("\(name)_count\(braced(labels)) \(total)")
    return lines
  }
}

private func braced(_ labels: String) -> String { labels.isEmpty ? "" : "{\(labels)}" }

private func number(_ value: Double) -> String {
  value == value.rounded() && abs(value) < 1e15 ? String(Int(value)) : String(value)
}

import Glibc

/// A moment: milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// Arithmetic stops at the ends of the range, so that a far number from outside is only a far
/// moment.
package struct UnixTime: Hashable, Comparable, Sendable {
  package let milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }
  package init(seconds: Int64) { self.milliseconds = seconds.times(1000) }

  /// Whole seconds, rounded down: what `aps.timestamp` and `apns-expiration` carry.
  package var seconds: Int64 { milliseconds.flooredDivision(by: 1000) }

  package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }

  package static func + (moment: Self, span: Duration) -> Self {
    Self(milliseconds: moment.milliseconds.plus(span.milliseconds))
  }

  package static func - (moment: Self, span: Duration) -> Self {
    Self(milliseconds: moment.milliseconds.minus(span.milliseconds))
  }

  package static func - (later: Self, earlier: Self) -> Duration {
    .milliseconds(later.milliseconds.minus(earlier.milliseconds))
  }
}

extension Duration {
  /// Whole milliseconds, rounded towards zero.
  package var milliseconds: Int64 {
    components.seconds.times(1000).plus(components.attoseconds / 1_000_000_000_000_000)
  }

  /// Seconds with their fraction.
  package var secondsAndFraction: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}

extension Int64 {
  fileprivate func flooredDivision(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }

  fileprivate func times(_ factor: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: factor)
    return overflow ? (self < 0 ? .min : .max) : product
  }

  fileprivate func plus(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  fileprivate func minus(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }
}

// MARK: Written forms

extension UnixTime: CustomStringConvertible {
  /// RFC 3339 in UTC with milliseconds, `2026-06-18T19:12:03.123Z`: the API's and the events' form.
  package var rfc3339: String {
    let parts = civil
    let fraction = milliseconds - seconds * 1000
    return "\(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2))T"
      + "\(padded(parts.hour, 2)):\(padded(parts.minute, 2)):\(padded(parts.second, 2))"
      + ".\(padded(Int(fraction), 3))Z"
  }

  /// The cook contract's form, `yyyy-MM-dd HH:mm:ss` in UTC: `updatedAt` and `updated_at`.
  package var contractForm: String {
    let parts = civil
    return "\(padded(parts.year, 4))-\(padded(parts.month, 2))-\(padded(parts.day, 2)) "
      + "\(padded(parts.hour, 2)):\(padded(parts.minute, 2)):\(padded(parts.second, 2))"
  }

  package var description: String { rfc3339 }

  /// Reads RFC 3339 with any offset, with or without a fraction (cut to milliseconds), and the
  /// contract's form. Nil for anything else, and for days and hours that do not exist. A leap
  /// second reads as the second after it.
  package init?(_ text: String) {
    var reader = TimeReader(text)
    guard let moment = reader.moment() else { return nil }
    self = moment
  }

  private var civil: (year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
    var whole = time_t(seconds)
    var parts = tm()
    gmtime_r(&whole, &parts)
    return (
      Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday), Int(parts.tm_hour),
      Int(parts.tm_min), Int(parts.tm_sec)
    )
  }
}

private func padded(_ number: Int, _ width: Int) -> String {
  let digits = String(number)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

private func days(inMonth month: Int, of year: Int) -> Int {
  switch month {
  case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
  case 4, 6, 9, 11: 30
  default: 31
  }
}

private struct TimeReader {
  private var rest: Substring.UTF8View

  init(_ text: String) { rest = text[...].utf8 }

  mutating func moment() -> UnixTime? {
    guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2),
      let separator = separator(),
      let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
      (0..<24).contains(hour), (0..<60).contains(minute), (0..<61).contains(second),
      let milliseconds = fraction(),
      // Only the contract's form, which is always UTC, comes without an offset.
      let offset = rest.isEmpty && separator == " " ? 0 : offsetInMinutes(), rest.isEmpty,
      (1...12).contains(month), (1...days(inMonth: month, of: year)).contains(day)
    else { return nil }
    var parts = tm()
    parts.tm_year = Int32(year - 1900)
    parts.tm_mon = Int32(month - 1)
    parts.tm_mday = Int32(day)
    parts.tm_hour = Int32(hour)
    parts.tm_min = Int32(minute)
    parts.tm_sec = Int32(second)
    let seconds = timegm(&parts)
    return UnixTime(milliseconds: (Int64(seconds) - Int64(offset) * 60) * 1000 + milliseconds)
  }

  private mutating func separator() -> Character? {
    take("T") || take("t") ? "T" : take(" ") ? " " : nil
  }

  private mutating func take(_ character: Character) -> Bool {
    guard let first = rest.first, first == character.asciiValue else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func number(_ digits: Int) -> Int? {
    guard rest.count >= digits else { return nil }
    var value = 0
    for byte in rest.prefix(digits) {
      guard (48...57).contains(byte) else { return nil }
      value = value * 10 + Int(byte - 48)
    }
    rest.removeFirst(digits)
    return value
  }

  private mutating func fraction() -> Int64? {
    guard take(".") else { return 0 }
    var value: Int64 = 0
    var scale: Int64 = 100
    var count = 0
    while let byte = rest.first, (48...57).contains(byte) {
      value += Int64(byte - 48) * scale
      scale /= 10
      count += 1
      rest.removeFirst()
    }
    return count > 0 ? value : nil
  }

  private mutating func offsetInMinutes() -> Int? {
    if take("Z") || take("z") { return 0 }
    let sign = take("+") ? 1 : take("-") ? -1 : 0
    guard sign != 0, let hours = number(2), take(":"), let minutes = number(2), hours < 24,
      minutes < 60
    else { return nil }
    return sign * (hours * 60 + minutes)
  }
}

extension UnixTime: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let moment = UnixTime(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text.prefix(40))\" is not an RFC 3339 time")
    }
    self = moment
  }

  /// Writes RFC 3339.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rfc3339)
  }
}

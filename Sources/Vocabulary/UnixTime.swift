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
    String(unsafeUninitializedCapacity: TimeWriter.bytesMax) { bytes in
      var writer = TimeWriter(bytes)
      writer.writeCivil(self, separator: "T")
      writer.write(".")
      writer.write(Int((milliseconds % 1000 + 1000) % 1000), digits: 3)
      writer.write("Z")
      return writer.count
    }
  }

  /// The cook contract's form, `yyyy-MM-dd HH:mm:ss` in UTC: `updatedAt` and `updated_at`.
  package var contractForm: String {
    String(unsafeUninitializedCapacity: TimeWriter.bytesMax) { bytes in
      var writer = TimeWriter(bytes)
      writer.writeCivil(self, separator: " ")
      return writer.count
    }
  }

  package var description: String { rfc3339 }

  /// Reads RFC 3339 with any offset, with or without a fraction (cut to milliseconds), and the
  /// contract's form. Nil for anything else, and for days and hours that do not exist. A leap
  /// second reads as the second after it.
  package init?(_ text: String) {
    var text = text
    let moment = text.withUTF8 { bytes in
      var reader = TimeReader(bytes)
      return reader.moment()
    }
    guard let moment else { return nil }
    self = moment
  }
}

/// A day of the Gregorian calendar, also before it was in use. Counted by hand: the C library looks
/// at the time zone under a lock for each conversion, which was a tenth of reading an event.
private struct CivilDay {
  let year: Int
  let month: Int
  let day: Int

  /// How many days there are in 400 years, after which the calendar repeats.
  private static let daysOfEra = 146_097
  /// From 0000-03-01 to 1970-01-01. A year that begins in March has its leap day at its end.
  private static let daysBefore1970 = 719_468

  init(year: Int, month: Int, day: Int) {
    (self.year, self.month, self.day) = (year, month, day)
  }

  init(daysSince1970 days: Int) {
    let days = days + Self.daysBefore1970
    let era = (days >= 0 ? days : days - Self.daysOfEra + 1) / Self.daysOfEra
    let dayOfEra = days - era * Self.daysOfEra
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
  }

  var daysSince1970: Int {
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * Self.daysOfEra + dayOfEra - Self.daysBefore1970
  }
}

/// Writes digits where they belong, without a string for each number: a time stands in every event
/// and every card.
private struct TimeWriter {
  /// A year may have nine digits and a sign.
  static let bytesMax = 32

  private let bytes: UnsafeMutableBufferPointer<UInt8>
  private(set) var count = 0

  init(_ bytes: UnsafeMutableBufferPointer<UInt8>) { self.bytes = bytes }

  /// `yyyy-MM-dd`, the separator, `HH:mm:ss`.
  mutating func writeCivil(_ moment: UnixTime, separator: Unicode.Scalar) {
    let days = moment.seconds.flooredDivision(by: 86_400)
    let second = Int(moment.seconds - days * 86_400)
    let day = CivilDay(daysSince1970: Int(days))
    write(day.year, digits: 4)
    write(day.month, after: "-")
    write(day.day, after: "-")
    write(second / 3600, after: separator)
    write(second / 60 % 60, after: ":")
    write(second % 60, after: ":")
  }

  private mutating func write(_ number: Int, after separator: Unicode.Scalar) {
    write(separator)
    write(number, digits: 2)
  }

  mutating func write(_ character: Unicode.Scalar) {
    bytes[count] = UInt8(ascii: character)
    count += 1
  }

  /// At least so many digits, with zeros before them.
  mutating func write(_ number: Int, digits: Int) {
    var (places, limit, rest) = (1, UInt(10), number.magnitude)
    if number < 0 { write("-") }
    while places < digits || rest >= limit { (places, limit) = (places + 1, limit * 10) }
    for place in stride(from: count + places - 1, through: count, by: -1) {
      bytes[place] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
    count += places
  }
}

private func days(inMonth month: Int, of year: Int) -> Int {
  switch month {
  case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
  case 4, 6, 9, 11: 30
  default: 31
  }
}

private struct TimeReader {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var place = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  private var isAtEnd: Bool { place == bytes.count }

  mutating func moment() -> UnixTime? {
    guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2)
    else { return nil }
    let isSpaced = take(" ")
    guard isSpaced || take("T") || take("t"),
      let hour = number(2), take(":"), let minute = number(2), take(":"), let second = number(2),
      (0..<24).contains(hour), (0..<60).contains(minute), (0..<61).contains(second),
      let milliseconds = fraction(),
      // Only the contract's form, which is always UTC, comes without an offset.
      let offset = isAtEnd && isSpaced ? 0 : offsetInMinutes(), isAtEnd,
      (1...12).contains(month), (1...days(inMonth: month, of: year)).contains(day)
    else { return nil }
    let days = CivilDay(year: year, month: month, day: day).daysSince1970
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second
    return UnixTime(milliseconds: (Int64(seconds) - Int64(offset) * 60) * 1000 + milliseconds)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard !isAtEnd, bytes[place] == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  private mutating func digit() -> Int? {
    guard !isAtEnd, (0x30...0x39).contains(bytes[place]) else { return nil }
    place += 1
    return Int(bytes[place - 1] - 0x30)
  }

  private mutating func number(_ digits: Int) -> Int? {
    var value = 0
    for _ in 0..<digits {
      guard let digit = digit() else { return nil }
      value = value * 10 + digit
    }
    return value
  }

  private mutating func fraction() -> Int64? {
    guard take(".") else { return 0 }
    guard let first = digit() else { return nil }
    var (value, scale) = (Int64(first) * 100, Int64(10))
    while let digit = digit() {
      value += Int64(digit) * scale
      scale /= 10
    }
    return value
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

/// The header `Retry-After` (RFC 9110, 10.2.3).
package enum RetryAfter {
  /// A longer wait than this is not believed.
  package static let most = Duration.seconds(86_400)

  /// Whole seconds or a date, as a wait from `now`; nil for anything else and for what is past.
  package static func parse(_ text: String, now: UnixTime) -> Duration? {
    let wait =
      Int64(text).map { Duration.seconds($0) } ?? HTTPDate.parse(text).map { $0 - now }
    guard let wait, wait >= .zero else { return nil }
    return min(wait, most)
  }
}

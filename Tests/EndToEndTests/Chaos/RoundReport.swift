import Vocabulary

/// What one round of chaos showed.
struct RoundReport {
  var strikes: [String] = []
  var ledger = LedgerCheck(calls: [], traces: [], pushes: [])
  /// Everything wrong besides what the ledger found.
  var findings: [String] = []
  var pushes = 0
  /// Cards compared with the truth, and those that differ or are missing.
  var compared = 0
  var different = 0
  /// From the broker taking connections to the next push.
  var recoveries: [Duration] = []
  var drains: [Duration] = []
  var took: Duration = .zero

  /// Empty when everything is as promised.
  var problems: [String] {
    findings + ledger.findings + (different > 0 ? ["\(different) cards differ"] : [])
  }

  /// One line.
  var summary: String {
    let ends = LedgerCheck.End.allCases
      .map { "\($0.rawValue) \(ledger.ends[$0] ?? 0)" }.joined(separator: ", ")
    return "accepted \(ledger.accepted), refused \(ledger.refused), unknown \(ledger.unknown)"
      + " (recovered \(ledger.recovered)); lost \(ledger.lost), unexpected \(ledger.unexpected),"
      + " doubled \(ledger.doubled), doubled starts \(ledger.doubledStarts),"
      + " out of order \(ledger.outOfOrder); \(ends); \(pushes) pushes, same id again"
      + " \(ledger.repeated), turned round within a second \(ledger.turnedRound),"
      + " late with an older stamp \(ledger.overtaken); \(compared) cards compared;"
      + " recovery \(Self.text(recoveries)), longest drain"
      + " \(Self.text(drains.max().map { [$0] } ?? []));"
      + " \(strikes.count) strikes in \(Self.text([took]))"
  }

  private static func text(_ durations: [Duration]) -> String {
    durations.isEmpty
      ? "-"
      : durations.map { "\(($0.secondsAndFraction * 10).rounded() / 10) s" }.joined(separator: " ")
  }
}

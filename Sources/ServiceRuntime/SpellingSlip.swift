/// Slips of a finger: a letter too many, too few, another one, or two in the wrong order.
enum SpellingSlip {
  /// How many make another name; in a short one a single slip does.
  private static let most = 2
  private static let shortLength = 6

  /// Whether `name` came out as `written` by a slip or two.
  static func turns(_ name: String, into written: String) -> Bool {
    let most = min(name.count, written.count) < shortLength ? 1 : most
    guard abs(name.count - written.count) <= most else { return false }
    return (1...most).contains(distance(Array(name), Array(written)))
  }

  /// The least number of slips (optimal string alignment).
  private static func distance(_ one: [Character], _ other: [Character]) -> Int {
    var rows = [Array(0...other.count)]
    for i in one.indices {
      var row = [i + 1]
      for j in other.indices {
        let replaced = rows[i][j] + (one[i] == other[j] ? 0 : 1)
        var least = min(replaced, rows[i][j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, one[i] == other[j - 1], one[i - 1] == other[j] {
          least = min(least, rows[i - 1][j - 1] + 1)
        }
        row.append(least)
      }
      rows.append(row)
    }
    return rows[one.count][other.count]
  }
}

import Testing

/// What others ran into with APNs and Web Push, each case under the name that our notes give it: A
/// payload, B headers, topic and environment, C provider token, D connection, E token life and
/// starts, F Web Push. A test's name says which cases it holds.
@Suite struct KnownTroubleTests {
  private static let cases = [
    "A-1", "A-2", "A-3", "A-4", "A-5", "A-6", "A-7", "A-9", "A-10", "A-11", "A-13", "A-14",
    "A-15", "A-16", "A-18", "B-1", "B-2", "B-3", "B-4", "B-6", "B-7", "B-10", "B-11", "C-1", "C-2",
    "C-3", "C-4", "C-5", "C-6", "C-8", "C-10", "D-1", "D-2", "D-3", "D-4", "D-6", "D-7", "D-8",
    "D-9", "D-11", "D-12", "D-14", "D-15", "D-17", "E-1", "E-3", "E-4", "E-5", "E-6", "E-7", "E-8",
    "E-9", "E-10", "E-11", "E-12", "E-15", "E-16", "E-17", "F-1", "F-2", "F-3", "F-5",
  ]

  @Test func `each known trouble of a sender is a named test`() {
    var named: Set<String> = []
    for file in SourceTree.testsButTidy {
      for line in file.lines where line.contains("func `") {
        for match in line.matches(of: #/\b[A-F]-[0-9]+\b/#) { named.insert(String(match.0)) }
      }
    }
    expectNone(
      Self.cases.filter { !named.contains($0) }.map {
        Finding("Tests", "no test is named for \($0): put it before the name of the one that is")
      })
  }
}

import Foundation
import Testing

extension Installation {
  /// The push tokens in the database, as hexadecimal digits, lower-case.
  func storedTokens() throws -> [String] {
    let path = directory.appending(path: "lockstep.sqlite").path(percentEncoded: false)
    let program = """
      import sqlite3, sys
      rows = sqlite3.connect(sys.argv[1]).execute("SELECT token FROM tokens").fetchall()
      print("\\n".join(t.hex() if isinstance(t, bytes) else t for (t,) in rows))
      """
    let outcome = try Programs.run(Programs.python, ["-c", program, path])
    try #require(outcome.code == 0, "\(outcome.errors)")
    return outcome.output.split(separator: "\n").map { $0.lowercased() }
  }
}

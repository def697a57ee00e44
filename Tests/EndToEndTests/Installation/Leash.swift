import Foundation
import Glibc

/// Ends whatever has a pid file in a directory, and removes the directory: when it is let go, and
/// also when the tests themselves are killed. It is a process that waits for the end of its input,
/// and only we hold the other end.
final class Leash {
  private let directory: URL
  private let holder: Child
  private let rope: Int32

  init(_ directory: URL) throws {
    self.directory = directory
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Unexpected("no pipe") }
    defer { close(ends[0]) }
    rope = ends[1]
    let nothing = URL(filePath: "/dev/null")
    holder = try Child(
      URL(filePath: "/bin/sh"),
      [
        "-c",
        #"cat >/dev/null; for f in "$1"/*.pid; do kill -9 "$(cat "$f")"; done; rm -rf "$1""#,
        "sh", directory.path(percentEncoded: false),
      ], environment: [:], input: ends[0], output: nothing, errors: nothing)
  }

  func note(_ child: Child, _ name: String) throws {
    try Data("\(child.pid)\n".utf8).write(to: pidFile(name))
  }

  /// Its number may soon be another's.
  func forget(_ name: String) {
    // It is not there when it was forgotten before.
    try? FileManager.default.removeItem(at: pidFile(name))
  }

  private func pidFile(_ name: String) -> URL { directory.appending(path: "\(name).pid") }

  func letGo() {
    close(rope)
    _ = holder.exitCode(within: .seconds(10))
  }
}

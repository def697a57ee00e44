import Foundation

/// Ends whatever has a pid file in a directory, and removes the directory: when it is let go, and
/// also when the tests themselves are killed. It is a process that waits for the end of its input,
/// and only we hold the other end.
final class Leash {
  private let directory: URL
  private let rope = Pipe()
  private let holder = Process()

  init(_ directory: URL) throws {
    self.directory = directory
    holder.executableURL = URL(filePath: "/bin/sh")
    holder.arguments = [
      "-c",
      #"cat >/dev/null; for f in "$1"/*.pid; do kill -9 "$(cat "$f")"; done; rm -rf "$1""#,
      "sh", directory.path(percentEncoded: false),
    ]
    holder.standardInput = rope
    holder.standardOutput = FileHandle.nullDevice
    holder.standardError = FileHandle.nullDevice
    try holder.run()
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
    // Closed already: then it has let go.
    try? rope.fileHandleForWriting.close()
    holder.waitUntilExit()
  }
}

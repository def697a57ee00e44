import Foundation
import Glibc
import Testing

/// A RabbitMQ node for one test that kills it or gives it certificates; ends with the instance.
package final class PrivateBroker {
  package let directory: URL
  private static let script = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "deploy/rabbitmq-private")

  /// Starts a node; `prepare` puts files into the directory before.
  package init(prepare: (URL) throws -> Void = { _ in }) throws {
    directory = FileManager.default.temporaryDirectory
      .appending(path: "lockstep-broker-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    try prepare(directory)
    try start()
  }

  deinit {
    // Nothing can be done about a node that does not end, and the test has its verdict.
    try? kill()
    try? FileManager.default.removeItem(at: directory)
  }

  /// Starts it, again on the same ports and with the same data.
  package func start() throws { try Self.run("start", directory) }

  /// The same from another thread.
  package static func start(in directory: URL) {
    do { try run("start", directory) } catch { Issue.record(error) }
  }

  /// Ends it as a power cut would.
  package func kill() throws { try Self.run("kill", directory) }

  /// The same from another thread.
  package static func kill(in directory: URL) {
    do { try run("kill", directory) } catch { Issue.record(error) }
  }

  /// Stops it in its tracks, connections open: what a dead link looks like.
  package func freeze() throws { try signal(SIGSTOP) }

  package func thaw() throws { try signal(SIGCONT) }

  private func signal(_ number: Int32) throws {
    let pid = try #require(pid_t(try line("pid")))
    try #require(Glibc.kill(pid, number) == 0)
  }

  package var url: String { get throws { try line("url") } }
  package var tlsURL: String { get throws { try line("tls-url") } }
  package var managementURL: String { get throws { try line("management-url") } }
  /// Of RabbitMQ's own figures for Prometheus, without a path.
  package var prometheusURL: String { get throws { try line("prometheus-url") } }

  private func line(_ name: String) throws -> String {
    try String(contentsOf: directory.appending(path: name), encoding: .utf8)
      .trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// Runs `rabbitmqctl` on it, also from another thread.
  package static func control(in directory: URL, _ arguments: String...) {
    do { try run("ctl", directory, arguments) } catch { Issue.record(error) }
  }

  private static func run(_ verb: String, _ directory: URL, _ more: [String] = []) throws {
    let process = try Process.run(
      script, arguments: [verb, directory.path(percentEncoded: false)] + more)
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "rabbitmq-private \(verb) failed")
  }
}

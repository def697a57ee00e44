import ServiceRuntime
import Synchronization
import TestSupport

/// What a log wrote.
final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])
  var all: [String] { lines.withLock { $0 } }

  var log: Log {
    Log(form: .text, level: .debug, role: "test", now: { Samples.noon }) { line in
      self.lines.withLock { $0.append(line) }
    }
  }
}

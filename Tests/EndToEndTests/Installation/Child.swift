import Foundation
import Glibc
import TestSupport

/// One child process, in a process group of its own.
///
/// Foundation's `Process` would hand down the signal mask of the thread that starts it, and threads
/// of a test block everything: a shell would never hear of SIGTERM.
final class Child {
  let pid: pid_t
  private var status: Int32?

  /// `output` and `errors` are appended to; `input` is a descriptor, nil reads nothing. Of our own
  /// environment it gets only what a program needs, so that no setting comes from outside.
  ///
  /// - Throws: ``Unexpected`` when it cannot be started.
  init(
    _ program: URL, _ arguments: [String], environment: [String: String], input: Int32? = nil,
    output: URL, errors: URL
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    if let input {
      posix_spawn_file_actions_adddup2(&actions, input, 0)
    } else {
      posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
    }
    for (descriptor, file) in [(Int32(1), output), (2, errors)] {
      posix_spawn_file_actions_addopen(
        &actions, descriptor, file.path(percentEncoded: false), O_WRONLY | O_CREAT | O_APPEND, 0o600
      )
    }
    // A descriptor that is closed by then is no matter.
    for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
      if let open = Int32(name), open > 2 { posix_spawn_file_actions_addclose(&actions, open) }
    }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (none, all) = (sigset_t(), sigset_t())
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let path = program.path(percentEncoded: false)
    let inherited = ["PATH", "HOME", "LANG", "TMPDIR"].compactMap { name in
      ProcessInfo.processInfo.environment[name].map { (name, $0) }
    }
    let variables = environment.merging(inherited) { given, _ in given }
    var words = ([path] + arguments).map { strdup($0) } + [nil]
    var settings = variables.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for text in words + settings { free(text) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, path, &actions, &attributes, &words, &settings)
    guard code == 0 else { throw Unexpected("\(path): \(String(cString: strerror(code)))") }
    self.pid = pid
  }

  deinit { kill() }

  var isRunning: Bool {
    guard status == nil else { return false }
    var status: Int32 = 0
    guard waitpid(pid, &status, WNOHANG) == pid else { return true }
    self.status = status
    return false
  }

  func send(_ signal: Int32) {
    if isRunning { _ = Glibc.kill(pid, signal) }
  }

  /// To it and to all of its children that made no group of their own: what Ctrl-C does.
  func sendToGroup(_ signal: Int32) { _ = Glibc.kill(-pid, signal) }

  /// SIGKILL, and waits until it is gone.
  func kill() {
    send(SIGKILL)
    _ = exitCode(within: .seconds(10))
  }

  /// As a shell tells it: 128 and the signal's number when a signal ended it. Nil when it still
  /// runs after `limit`.
  func exitCode(within limit: Duration) -> Int32? {
    guard becomesTrue(within: limit, { !isRunning }), let status else { return nil }
    let signal = status & 0x7F
    return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
  }
}

import Glibc

/// What started this process, when it wants to hear how the process fares: systemd does for a unit
/// of `Type=notify`, by the datagrams of sd_notify(3). Nobody hears anything without NOTIFY_SOCKET.
package struct Supervisor: Sendable {
  /// One datagram's worth of news.
  package enum News: Hashable, Sendable {
    /// Serves, or will as soon as what it needs is there. `status`: one line for people.
    case ready(status: String)
    /// The main thread still runs.
    case alive(status: String)
    /// Ends in good order, within `limit`.
    case stopping(limit: Duration)

    /// As sd_notify(3) has it: one assignment per line.
    package var text: String {
      switch self {
      case .ready(let status): "READY=1\nSTATUS=\(Self.oneLine(status))"
      case .alive(let status): "WATCHDOG=1\nSTATUS=\(Self.oneLine(status))"
      case .stopping(let limit):
        "STOPPING=1\nEXTEND_TIMEOUT_USEC=\(Int(limit / .microseconds(1)))\nSTATUS=draining"
      }
    }

    private static func oneLine(_ text: String) -> String {
      String(text.replacing("\n", with: " ").prefix(500))
    }
  }

  /// The status is told this often at least.
  private static let pauseMax: Duration = .seconds(2)
  /// What fits into `sockaddr_un`, bytes.
  private static let pathMax = 107

  /// A path, or `@` and an abstract name; nil: nobody listens.
  private let socketName: String?
  /// How long to wait between two signs of life.
  package let pause: Duration

  /// - Parameters:
  ///   - environment: NOTIFY_SOCKET; WATCHDOG_USEC, microseconds between two signs of life at most,
  ///     when it is meant for us, which WATCHDOG_PID says.
  ///   - pid: ours.
  package init(environment: [String: String], pid: Int32 = getpid()) {
    socketName = environment["NOTIFY_SOCKET"].flatMap { name in
      (name.hasPrefix("/") || name.hasPrefix("@")) && name.utf8.count <= Self.pathMax ? name : nil
    }
    let isOurs = environment["WATCHDOG_PID"].map { $0 == "\(pid)" } ?? true
    let limit = isOurs ? environment["WATCHDOG_USEC"].flatMap(Int.init) : nil
    pause = min(Self.pauseMax, limit.map { .microseconds($0 / 2) } ?? Self.pauseMax)
  }

  /// Never waits: a supervisor that does not read misses it.
  ///
  /// - Returns: whether it was taken; false when nobody listens.
  @discardableResult
  package func tell(_ news: News) -> Bool {
    guard let socketName else { return false }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { path in
      path.copyBytes(from: socketName.utf8)
      if path[0] == UInt8(ascii: "@") { path[0] = 0 }
    }
    // Of an abstract name every byte counts, so it ends where the name does.
    let unused = MemoryLayout.size(ofValue: address.sun_path) - socketName.utf8.count
    let size = socklen_t(MemoryLayout<sockaddr_un>.size - unused)
    let text = Array(news.text.utf8)
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, text, text.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL), $0, size)
          == text.count
      }
    }
  }
}

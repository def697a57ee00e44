import CCurl
import CLinux
import Glibc

/// Drives libcurl transfers from its owner's poll loop: many at once, nothing blocks. Belongs to
/// one thread.
package final class TransferLoop {
  package struct Limits: Hashable, Sendable {
    /// One connection carries many requests where the service speaks HTTP/2.
    package var connectionsPerHostMax: Int
    package var connectionsMax: Int

    package init(connectionsPerHostMax: Int, connectionsMax: Int) {
      self.connectionsPerHostMax = connectionsPerHostMax
      self.connectionsMax = connectionsMax
    }
  }

  private let multi: UnsafeMutableRawPointer
  /// The steady clock.
  private let elapsed: @Sendable () -> Duration
  private let timer: Int32
  /// The events that libcurl waits for, by descriptor.
  private var watched: [Int32: Int16] = [:]
  /// When libcurl wants to be called whatever happens, by the steady clock.
  private var timerDue: Duration?

  /// Rounds of one call: what is ready again at once waits for the next call after so many.
  private static let roundsMax = 32

  package init(_ limits: Limits, elapsed: @escaping @Sendable () -> Duration) {
    _ = libraryIsReady
    guard let multi = curl_multi_init() else { preconditionFailure("libcurl has no memory") }
    self.multi = multi
    self.elapsed = elapsed
    timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
    precondition(timer >= 0, "no descriptor left for a timer")
    for (option, value) in [
      (CURLMOPT_MAX_HOST_CONNECTIONS, limits.connectionsPerHostMax),
      (CURLMOPT_MAX_TOTAL_CONNECTIONS, limits.connectionsMax),
      (CURLMOPT_MAXCONNECTS, limits.connectionsMax),
    ] {
      lockstep_curl_multi_set_number(multi, option, value)
    }
    lockstep_curl_multi_set_watch(
      multi, watchSocket, watchTimer, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    lockstep_curl_multi_set_watch(multi, nil, nil, nil)
    curl_multi_cleanup(multi)
    Glibc.close(timer)
  }

  /// Descriptors and the poll(2) events they wait for.
  package var descriptors: [(descriptor: Int32, events: Int16)] {
    watched.map { ($0.key, $0.value) } + [(timer, Int16(POLLIN))]
  }

  /// Begins a transfer. Its handle must be removed before it is cleaned up, and before this loop is
  /// gone.
  package func add(_ handle: UnsafeMutableRawPointer) { curl_multi_add_handle(multi, handle) }

  package func remove(_ handle: UnsafeMutableRawPointer) {
    curl_multi_remove_handle(multi, handle)
  }

  /// Does what can be done now.
  ///
  /// - Returns: the handles of transfers that have ended, and libcurl's codes.
  package func advance() -> [(handle: UnsafeMutableRawPointer, code: CURLcode)] {
    for _ in 0..<Self.roundsMax where !serveReady() && !serveTimer() { break }
    var ended: [(UnsafeMutableRawPointer, CURLcode)] = []
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else {
        continue
      }
      ended.append((handle, lockstep_curl_message_code(message)))
    }
    return ended
  }

  /// - Returns: whether something was ready.
  private func serveReady() -> Bool {
    guard !watched.isEmpty else { return false }
    var polled = watched.map { pollfd(fd: $0.key, events: $0.value, revents: 0) }
    guard poll(&polled, nfds_t(polled.count), 0) > 0 else { return false }
    var running: Int32 = 0
    // One that was closed by the service of another is not watched any more.
    for ready in polled where ready.revents != 0 && watched[ready.fd] != nil {
      var mask: Int32 = 0
      if ready.revents & Int16(POLLIN | POLLHUP) != 0 { mask |= CURL_CSELECT_IN }
      if ready.revents & Int16(POLLOUT) != 0 { mask |= CURL_CSELECT_OUT }
      if ready.revents & Int16(POLLERR | POLLNVAL) != 0 { mask |= CURL_CSELECT_ERR }
      curl_multi_socket_action(multi, ready.fd, mask, &running)
    }
    return true
  }

  /// - Returns: whether it was due.
  private func serveTimer() -> Bool {
    guard let due = timerDue, due <= elapsed() else { return false }
    setTimer(after: nil)
    var running: Int32 = 0
    curl_multi_socket_action(multi, -1, 0, &running)
    return true
  }

  /// Nil: no timer.
  fileprivate func setTimer(after wait_ms: Int?) {
    timerDue = wait_ms.map { elapsed() + .milliseconds($0) }
    var setting = itimerspec()
    if let wait_ms {
      // Zero would disarm it.
      let nanoseconds = max(1, wait_ms * 1_000_000)
      setting.it_value.tv_sec = nanoseconds / 1_000_000_000
      setting.it_value.tv_nsec = nanoseconds % 1_000_000_000
    }
    // Setting it again also takes back that it is readable.
    timerfd_settime(timer, 0, &setting, nil)
  }

  fileprivate func watch(_ descriptor: Int32, _ what: Int32) {
    switch what {
    case CURL_POLL_IN: watched[descriptor] = Int16(POLLIN)
    case CURL_POLL_OUT: watched[descriptor] = Int16(POLLOUT)
    case CURL_POLL_INOUT: watched[descriptor] = Int16(POLLIN | POLLOUT)
    default: watched[descriptor] = nil
    }
  }
}

private let watchSocket: lockstep_curl_watch = { _, descriptor, what, context, _ in
  guard let context else { return 0 }
  Unmanaged<TransferLoop>.fromOpaque(context).takeUnretainedValue().watch(descriptor, what)
  return 0
}

private let watchTimer: lockstep_curl_timer = { _, wait_ms, context in
  guard let context else { return 0 }
  Unmanaged<TransferLoop>.fromOpaque(context).takeUnretainedValue()
    .setTimer(after: wait_ms < 0 ? nil : wait_ms)
  return 0
}

import CCurl
import CLinux
import Foundation
import Glibc
import Pipeline
import Pushes
import ServiceRuntime
import Vocabulary

/// Sends Web Pushes over libcurl, driven by its owner's poll loop. Belongs to one thread.
///
/// Every address is checked at the moment a socket is made for it, so a name cannot lead elsewhere
/// between a check and its use. Redirects are not followed and no proxy is used.
package final class WebPushTransport: WebPushCarrier {
  private let multi: UnsafeMutableRawPointer
  private let settings: WebPushTransportSettings
  private let time: any TimeSource
  private let timer: Int32
  private var transfers: [UInt64: Transfer] = [:]
  /// The events that libcurl waits for, by descriptor.
  private var watched: [Int32: Int16] = [:]
  /// When libcurl wants to be called whatever happens, by the steady clock.
  private var timerDue: Duration?

  /// How long after libcurl's own deadline a request is given up that libcurl still holds.
  private static let deadlineMargin: Duration = .seconds(1)
  /// Rounds of one call: what is ready again at once waits for the next call after so many.
  private static let roundsMax = 32

  package init(settings: WebPushTransportSettings, time: any TimeSource) {
    _ = libraryIsReady
    guard let multi = curl_multi_init() else { preconditionFailure("libcurl has no memory") }
    self.multi = multi
    self.settings = settings
    self.time = time
    timer = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
    precondition(timer >= 0, "no descriptor left for a timer")
    for (option, value) in [
      (CURLMOPT_MAX_HOST_CONNECTIONS, settings.connectionsPerHostMax),
      (CURLMOPT_MAX_TOTAL_CONNECTIONS, settings.connectionsMax),
      (CURLMOPT_MAXCONNECTS, settings.connectionsMax),
    ] {
      lockstep_curl_multi_set_number(multi, option, value)
    }
    lockstep_curl_multi_set_watch(
      multi, watchSocket, watchTimer, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit {
    close()
    lockstep_curl_multi_set_watch(multi, nil, nil, nil)
    curl_multi_cleanup(multi)
    Glibc.close(timer)
  }

  package var descriptors: [(descriptor: Int32, events: Int16)] {
    watched.map { ($0.key, $0.value) } + [(timer, Poll.readable)]
  }
  package var capacity: Int { max(0, settings.requestsMax - transfers.count) }
  package var inFlight: Int { transfers.count }

  package func send(_ request: WebPushRequest) {
    let transfer = Transfer(request, settings, startedAt: time.elapsed())
    transfers[request.number] = transfer
    curl_multi_add_handle(multi, transfer.handle)
  }

  package func advance() -> [WebPushResult] {
    for _ in 0..<Self.roundsMax where !serveReady() && !serveTimer() { break }
    return finished() + overdue()
  }

  package func close() {
    for transfer in transfers.values { curl_multi_remove_handle(multi, transfer.handle) }
    transfers = [:]
  }

  // MARK: Driving libcurl

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
    guard let due = timerDue, due <= time.elapsed() else { return false }
    setTimer(after: nil)
    var running: Int32 = 0
    curl_multi_socket_action(multi, -1, 0, &running)
    return true
  }

  /// Nil: no timer.
  fileprivate func setTimer(after wait_ms: Int?) {
    timerDue = wait_ms.map { time.elapsed() + .milliseconds($0) }
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
    case CURL_POLL_IN: watched[descriptor] = Poll.readable
    case CURL_POLL_OUT: watched[descriptor] = Poll.writable
    case CURL_POLL_INOUT: watched[descriptor] = Poll.readable | Poll.writable
    default: watched[descriptor] = nil
    }
  }

  // MARK: Results

  private func finished() -> [WebPushResult] {
    var results: [WebPushResult] = []
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
        let pointer = lockstep_curl_private(handle)
      else { continue }
      let code = lockstep_curl_message_code(message)
      let transfer = Unmanaged<Transfer>.fromOpaque(pointer).takeUnretainedValue()
      results.append(end(transfer, transfer.outcome(code, now: time.now())))
    }
    return results
  }

  /// A request that waits for a connection has no deadline of libcurl's.
  private func overdue() -> [WebPushResult] {
    let oldest = time.elapsed() - settings.requestTimeout - Self.deadlineMargin
    return transfers.values.filter { $0.startedAt < oldest }.map {
      end($0, .unanswered(because: "no answer within \(settings.requestTimeout)"))
    }
  }

  private func end(_ transfer: Transfer, _ outcome: WebPushOutcome) -> WebPushResult {
    curl_multi_remove_handle(multi, transfer.handle)
    transfers[transfer.number] = nil
    return WebPushResult(number: transfer.number, outcome: outcome)
  }
}

private let watchSocket: lockstep_curl_watch = { _, descriptor, what, context, _ in
  guard let context else { return 0 }
  Unmanaged<WebPushTransport>.fromOpaque(context).takeUnretainedValue().watch(descriptor, what)
  return 0
}

private let watchTimer: lockstep_curl_timer = { _, wait_ms, context in
  guard let context else { return 0 }
  Unmanaged<WebPushTransport>.fromOpaque(context).takeUnretainedValue()
    .setTimer(after: wait_ms < 0 ? nil : wait_ms)
  return 0
}

// Once per process, before any handle is made; a `let` is made once even by several threads.
private let libraryIsReady: Void = {
  let code = curl_global_init(Int(CURL_GLOBAL_ALL))
  precondition(
    code == CURLE_OK, "libcurl does not start: \(String(cString: curl_easy_strerror(code)))")
}()

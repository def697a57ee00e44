import CLinux
import CNghttp2
import Foundation

// The way to an open connection: look up, connect to one address after the other, TLS, HTTP/2.
extension HTTP2Client {
  /// The descriptor and the poll(2) events that the next step waits for; nil once ended.
  package var interest: (descriptor: Int32, events: Int16)? {
    switch phase {
    case .lookingUp(let lookup): (lookup.descriptor, Int16(POLLIN))
    case .connecting(let descriptor): (descriptor, Int16(POLLOUT))
    case .shakingHands(let socket):
      (socket.descriptor, Int16(socket.wantsWrite ? POLLOUT : POLLIN))
    case .open(let pump):
      (
        pump.socket.descriptor,
        Int16(POLLIN) | (pump.isBlocked || pump.wantsWrite ? Int16(POLLOUT) : 0)
      )
    case .ended: nil
    }
  }

  /// Does all that can be done now, without waiting.
  package func advance(now: Duration) {
    if case .lookingUp(let lookup) = phase { takeAnswer(of: lookup, now: now) }
    if case .connecting(let descriptor) = phase { checkConnect(descriptor, now: now) }
    if case .shakingHands(let socket) = phase { shakeHands(socket, now: now) }
    if case .open(let pump) = phase { exchange(pump, now: now) }
  }

  private func enter(_ next: Phase, now: Duration) {
    phase = next
    phaseStartedAt = now
  }

  private func takeAnswer(of lookup: AddressLookup, now: Duration) {
    switch lookup.answer {
    case .failed(let reason): end(reason)
    case .addresses(let found):
      addressesLeft = found
      connectToNext(now: now, otherwise: "lookup of \(settings.host): no address")
    case nil:
      if now - phaseStartedAt > settings.lookupTimeout {
        end("lookup of \(settings.host): no answer in time")
      }
    }
  }

  private func connectToNext(now: Duration, otherwise reason: String) {
    var reason = reason
    while !addressesLeft.isEmpty {
      do {
        let descriptor = try addressesLeft.removeFirst().connect(userTimeout: settings.userTimeout)
        return enter(.connecting(descriptor), now: now)
      } catch {
        reason = error.description
      }
    }
    end(reason)
  }

  private func checkConnect(_ descriptor: Int32, now: Duration) {
    var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    let isSettled = poll(&watched, 1, 0) > 0
    guard isSettled || now - phaseStartedAt > settings.connectTimeout else { return }
    var code: Int32 = isSettled ? 0 : ETIMEDOUT
    if isSettled {
      var size = socklen_t(MemoryLayout<Int32>.size)
      getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size)
    }
    guard code == 0 else {
      Foundation.close(descriptor)
      // Not to be closed twice should there be no further address.
      phase = .ended(because: "")
      return connectToNext(now: now, otherwise: SocketError("connect", code: code).description)
    }
    do {
      let socket = try tls.socket(descriptor: descriptor, host: settings.host)
      enter(.shakingHands(socket), now: now)
    } catch {
      phase = .ended(because: "")
      end(error.description)
    }
  }

  private func shakeHands(_ socket: SecureSocket, now: Duration) {
    switch socket.handshake() {
    case .wouldBlock:
      if now - phaseStartedAt > settings.tlsTimeout { end("no TLS in time") }
    case .ended(let reason):
      end(socket.certificateProblem.map { "\(reason): \($0)" } ?? reason)
    case .done:
      guard socket.speaksHTTP2 else { return end("the server does not speak HTTP/2") }
      open(socket, now: now)
    }
  }

  private func open(_ socket: SecureSocket, now: Duration) {
    var session: OpaquePointer?
    let user = Unmanaged.passUnretained(self).toOpaque()
    let code = nghttp2_session_client_new(&session, clientCallbacks, user)
    guard code == 0, let session else { return end(FramePump.text(code)) }
    var entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue), value: 0)
    nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), &entry, 1)
    enter(.open(FramePump(session: session, socket: socket)), now: now)
  }
}

import Glibc
import TestSupport
import Testing

/// What the proxy is told is what both ends of a connection meet.
@Suite struct FaultProxyTests {
  private let proxy: FaultProxy
  private let client: Int32
  private let server: Int32

  init() throws {
    let (listener, port) = try Sockets.listen()
    defer { close(listener) }
    proxy = try FaultProxy(links: ["link": port])
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var address = Sockets.loopback(proxy.port(of: "link"))
    try #require(Sockets.withAddress(&address) { connect(client, $0, $1) } == 0)
    var accepted: Int32 = -1
    try #require(
      becomesTrue {
        accepted = accept(listener, nil, nil)
        return accepted >= 0
      })
    let server = accepted
    (self.client, self.server) = (client, server)
    for socket in [client, server] { _ = fcntl(socket, F_SETFL, O_NONBLOCK) }
  }

  private func say(_ text: String, on socket: Int32) {
    let bytes = Array(text.utf8)
    #expect(send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
  }

  /// What has come by now: empty at the end of the stream, nil when nothing has come.
  private func heard(on socket: Int32) -> String? {
    var buffer = [UInt8](repeating: 0, count: 1000)
    let count = recv(socket, &buffer, buffer.count, 0)
    if count < 0 { return errno == EAGAIN ? nil : "reset" }
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  private func expect(_ text: String, on socket: Int32) {
    var last: String?
    #expect(
      becomesTrue {
        last = heard(on: socket) ?? last
        return last == text
      }, "heard \(last ?? "nothing"), want \(text)")
  }

  private func end() { for socket in [client, server] { close(socket) } }

  @Test func `Bytes pass both ways`() {
    say("there", on: client)
    expect("there", on: server)
    say("and back", on: server)
    expect("and back", on: client)
    end()
  }

  @Test func `A cut resets both ends`() {
    say("a", on: client)
    expect("a", on: server)
    proxy.strike(.cut, on: "link", .all)
    expect("reset", on: client)
    expect("reset", on: server)
    end()
  }

  @Test func `Through a black hole nothing comes until it is gone, and then everything`() {
    proxy.set(LinkConduct(isBlackHole: true), on: nil)
    // An order holds from the proxy's next turn on; what comes by then is not held against it.
    say("0", on: client)
    _ = becomesTrue(within: .milliseconds(200)) { heard(on: server) != nil }
    say("1", on: client)
    #expect(!becomesTrue(within: .milliseconds(100)) { heard(on: server)?.contains("1") == true })
    proxy.set(.clear, on: "link")
    #expect(becomesTrue { heard(on: server)?.hasSuffix("1") == true })
    end()
  }

  @Test func `Half closed, the client hears no more and is still heard`() {
    say("a", on: client)
    expect("a", on: server)
    proxy.strike(.halfClose, on: nil, .newest)
    expect("", on: client)
    say("still here", on: client)
    expect("still here", on: server)
    end()
  }
}

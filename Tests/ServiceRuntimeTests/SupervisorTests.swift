import Foundation
import Glibc
import ServiceRuntime
import Testing

@Suite struct SupervisorTests {
  /// A socket as systemd opens it, at a path or an abstract name.
  private final class Listener {
    let name: String
    private let descriptor: Int32

    init(abstract: Bool) throws {
      let id = "lockstep-\(UUID().uuidString)"
      let path = FileManager.default.temporaryDirectory.appending(path: id)
      name = abstract ? "@\(id)" : path.path(percentEncoded: false)
      descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) {
        $0.copyBytes(from: name.utf8)
        if abstract { $0[0] = 0 }
      }
      let size = MemoryLayout<sa_family_t>.size + name.utf8.count
      let code = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(size))
        }
      }
      try #require(code == 0, "\(String(cString: strerror(errno)))")
    }

    deinit {
      close(descriptor)
      if name.hasPrefix("/") { unlink(name) }
    }

    /// Nil when nothing has come.
    func heard() -> String? {
      var bytes = [UInt8](repeating: 0, count: 4096)
      let count = recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }
  }

  @Test(arguments: [false, true])
  func `systemd hears that a process is ready, alive and stopping`(abstract: Bool) throws {
    let listener = try Listener(abstract: abstract)
    let supervisor = Supervisor(environment: ["NOTIFY_SOCKET": listener.name])
    #expect(supervisor.tell(.ready(status: "ok")))
    #expect(supervisor.tell(.alive(status: "not ready: broker: away\nsince long")))
    #expect(supervisor.tell(.stopping(limit: .seconds(30))))
    #expect(listener.heard() == "READY=1\nSTATUS=ok")
    #expect(listener.heard() == "WATCHDOG=1\nSTATUS=not ready: broker: away since long")
    #expect(listener.heard() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=30000000\nSTATUS=draining")
    #expect(listener.heard() == nil)
  }

  @Test func `without a supervisor nothing is told`() {
    let long = "/" + String(repeating: "x", count: 200)
    for environment in [[:], ["NOTIFY_SOCKET": "relative"], ["NOTIFY_SOCKET": long]] {
      #expect(!Supervisor(environment: environment).tell(.ready(status: "ok")))
    }
    #expect(!Supervisor(environment: ["NOTIFY_SOCKET": "/nowhere/x"]).tell(.ready(status: "ok")))
  }

  @Test func `a sign of life comes twice in the time that is wanted`() {
    let wanted = ["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "12"]
    #expect(Supervisor(environment: wanted, pid: 12).pause == .seconds(1.5))
    #expect(Supervisor(environment: wanted, pid: 13).pause == .seconds(2), "meant for another")
    #expect(Supervisor(environment: ["WATCHDOG_USEC": "2000000"]).pause == .seconds(1))
    #expect(Supervisor(environment: ["WATCHDOG_USEC": "60000000"]).pause == .seconds(2))
    #expect(Supervisor(environment: ["WATCHDOG_USEC": "much"]).pause == .seconds(2))
    #expect(Supervisor(environment: [:]).pause == .seconds(2))
  }
}

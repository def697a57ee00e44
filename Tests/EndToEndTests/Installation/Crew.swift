import Foundation
import Glibc
import HTTPClient
import Testing

/// Several processes of each role, replaced one after another as a deployment does it, and nginx
/// before the APIs with the configuration that `deploy/proxy` ships.
final class Crew {
  static let workers: [Role] = [.payloadBuilder, .apnsSender, .notifier]

  private struct Member {
    let name: String
    let child: Child
    let adminPort: UInt16
  }

  private let installation: Installation
  private var members: [Role: [Member]] = [:]
  private let apiPorts: [UInt16]
  private var hired = 0
  private let proxy: Child
  /// How many processes have had a successor.
  private(set) var replaced = 0
  private var replacedAPIs = 0

  /// Two of each, ready. `installation` runs only the simulator; its API's address becomes the
  /// proxy's.
  init(of installation: Installation) throws {
    self.installation = installation
    apiPorts = try Self.freePorts(2)
    proxy = try Self.startProxy(installation, to: apiPorts)
    for port in apiPorts { try hire(.api, httpPort: port) }
    for role in Self.workers { for _ in 0..<2 { try hire(role) } }
  }

  private static func freePorts(_ count: Int) throws -> [UInt16] {
    let free = try Programs.run(Programs.demo, ["free-ports", "\(count)"])
    let ports = free.output.split(separator: "\n").compactMap { UInt16($0) }
    try #require(ports.count == count, "\(free.errors)")
    return ports
  }

  private static func startProxy(_ installation: Installation, to ports: [UInt16]) throws -> Child {
    let folder = Programs.repository.appending(path: "deploy/proxy")
    let upstream = ports.map { "server 127.0.0.1:\($0) max_fails=0;" }.joined(separator: " ")
    let address = installation.apiURL.replacing("http://", with: "")
    let path = installation.directory.path(percentEncoded: false)
    let text = """
      daemon off; master_process off; pid \(path)/nginx-own.pid; error_log stderr warn;
      events {}
      http {
        access_log off;
        client_body_temp_path \(path)/nginx-body; proxy_temp_path \(path)/nginx-proxy;
        fastcgi_temp_path \(path)/nginx-f; uwsgi_temp_path \(path)/nginx-u;
        scgi_temp_path \(path)/nginx-s;
        include \(folder.path(percentEncoded: false))/lockstep-repeatable.conf;
        upstream lockstep_api { \(upstream) }
        server {
          listen \(address);
          include \(folder.path(percentEncoded: false))/lockstep-locations.conf;
        }
      }
      """
    let file = installation.directory.appending(path: "nginx.conf")
    try Data(text.utf8).write(to: file)
    return try installation.spawn(
      "nginx", URL(filePath: "/usr/sbin/nginx"), ["-c", file.path(percentEncoded: false)])
  }

  /// Starts one, and works meanwhile; returns once it is ready.
  private func hire(_ role: Role, httpPort: UInt16? = nil, working: () throws -> Void = {}) throws {
    hired += 1
    let name = "\(role.rawValue)-\(hired)"
    let adminPort = try #require(try Self.freePorts(1).first)
    var environment = installation.settings
    environment["LOCKSTEP_ADMIN_ADDR"] = "127.0.0.1:\(adminPort)"
    if let httpPort { environment["LOCKSTEP_HTTP_ADDR"] = "127.0.0.1:\(httpPort)" }
    let child = try installation.spawn(name, Programs.lockstep, [role.rawValue], environment)
    let member = Member(name: name, child: child, adminPort: adminPort)
    members[role, default: []].append(member)
    try installation.wait(for: "\(name) to be ready") {
      guard child.isRunning else { throw Installation.Fatal("\(name) has ended") }
      try working()
      let url = "http://127.0.0.1:\(adminPort)/readyz"
      return try installation.client.send("GET", url).status == 200
    }
  }

  /// SIGTERM to the longest-serving, and works until it has ended.
  ///
  /// - Returns: its exit code.
  private func dismiss(_ role: Role, working: () throws -> Void) throws -> Int32 {
    let member = try #require(members[role]?.first)
    members[role]?.removeFirst()
    member.child.send(SIGTERM)
    try installation.wait(for: "\(member.name) to end") {
      try working()
      return !member.child.isRunning
    }
    installation.forget(member.name)
    return try #require(member.child.exitCode(within: .seconds(1)))
  }

  /// Replaces every process once. A worker's successor is ready before it is told to go; of the
  /// APIs, whose ports are fixed, the other one serves meanwhile.
  func replaceEach(working: () throws -> Void) throws {
    for role in Self.workers {
      for _ in 0..<2 {
        try hire(role, working: working)
        #expect(try dismiss(role, working: working) == 0, "\(role)")
        replaced += 1
      }
    }
    for port in apiPorts {
      #expect(try dismiss(.api, working: working) == 0)
      try hire(.api, httpPort: port, working: working)
      replaced += 1
    }
  }

  /// SIGKILL to the longest-serving of a role, work, and then another in its place.
  func killOne(_ role: Role, working: () throws -> Void) throws {
    let member = try #require(members[role]?.first)
    let port = role == .api ? apiPorts[replacedAPIs % apiPorts.count] : nil
    members[role]?.removeFirst()
    member.child.kill()
    installation.forget(member.name)
    try working()
    try hire(role, httpPort: port, working: working)
    if role == .api { replacedAPIs += 1 }
  }

  /// Ends all of them in good order.
  func dismissAll() throws {
    for role in [.api] + Self.workers {
      while members[role]?.isEmpty == false {
        #expect(try dismiss(role, working: {}) == 0, "\(role)")
      }
    }
  }

  /// Starts all again.
  func hireAll() throws {
    for port in apiPorts { try hire(.api, httpPort: port) }
    for role in Self.workers { for _ in 0..<2 { try hire(role) } }
  }
}

import Foundation
import Testing

@Suite struct SystemdTests {
  private static let folder = "deploy/systemd"
  private static let roles = [
    "api", "payload-builder", "apns-sender", "notifier", "webpush-sender", "ops", "fcm-sender",
  ]

  private static func unit(_ role: String) throws -> String {
    try Tools.text("\(folder)/lockstep-\(role)@.service")
  }

  /// Installs into a folder that looks like a machine with systemd.
  private func install(_ program: String) throws -> Folder {
    let root = try Folder()
    let units = root.url.appending(path: "usr/lib/systemd")
    try FileManager.default.createDirectory(at: units, withIntermediateDirectories: true)
    try FileManager.default.copyItem(
      at: URL(filePath: "/usr/lib/systemd/system"), to: units.appending(path: "system"))
    let outcome = try Tools.run(
      Tools.path("\(Self.folder)/install"), [program, "2"], environment: ["DESTDIR": root.path])
    try #require(outcome.code == 0, "\(outcome.output)")
    return root
  }

  /// The program that was built together with these tests.
  private static var lockstep: String {
    URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "lockstep").path(percentEncoded: false)
  }

  private func units(_ root: Folder) throws -> [String] {
    let folder = root.path + "/etc/systemd/system"
    return try FileManager.default.contentsOfDirectory(atPath: folder)
      .filter { $0.hasPrefix("lockstep") && !$0.hasSuffix(".d") }.sorted()
      .map { "\(folder)/\($0)" }
  }

  private func verify(_ root: Folder) throws -> Tools.Outcome {
    try Tools.run(
      "/usr/bin/systemd-analyze",
      ["verify", "--man=no", "--root=\(root.path)"]
        + units(root).map {
          String($0.dropFirst(root.path.count))
        })
  }

  @Test func `systemd has nothing to say against the units, and finds what is wrong in one`() throws
  {
    let root = try install(Self.lockstep)
    let outcome = try verify(root)
    #expect(outcome.code == 0)
    #expect(outcome.output == "")
    let unit = root.url.appending(path: "etc/systemd/system/lockstep-notifier@.service")
    let text = try String(contentsOf: unit, encoding: .utf8)
    try Data(text.replacing("MemoryMax=", with: "MemoryMost=").utf8).write(to: unit)
    #expect(try verify(root).output.contains("MemoryMost"))
  }

  @Test func `each service is as confined as it can be`() throws {
    let root = try install(Self.lockstep)
    let services = try units(root).filter { $0.hasSuffix(".service") }
    #expect(services.count == Self.roles.count + 2)
    for service in services {
      // In tenths: 1.5 of 10.
      let outcome = try Tools.run(
        "/usr/bin/systemd-analyze",
        ["security", "--offline=true", "--threshold=15", "--root=\(root.path)", service])
      #expect(outcome.code == 0, "\(outcome.output)")
      #expect(outcome.output.contains("Overall exposure level"))
    }
  }

  @Test func `installed again, settings, keys and passwords stay`() throws {
    let root = try install(Self.lockstep)
    let settings = root.path + "/etc/lockstep/apns-sender.env"
    let before = try String(contentsOfFile: settings, encoding: .utf8)
    #expect(!before.contains("PASSWORD"))
    let password = try #require(before.firstMatch(of: #/apns-sender:([0-9a-f]{32})@/#)?.1)
    let passwords = root.path + "/etc/lockstep/passwords"
    #expect(
      try String(contentsOfFile: passwords, encoding: .utf8).contains("apns-sender=\(password)\n"))
    let kept = ["/etc/lockstep/keys/vapid.pem", "/etc/lockstep/passwords"]
    let files = try kept.map { try Data(contentsOf: URL(filePath: root.path + $0)) }
    for file in kept + ["/etc/lockstep/apns-sender.env"] {
      let mode = try FileManager.default.attributesOfItem(atPath: root.path + file)
      #expect(mode[.posixPermissions] as? Int == 0o600, "\(file)")
    }
    try Data((before + "# mine\n").utf8).write(to: URL(filePath: settings))
    let again = try Tools.run(
      Tools.path("\(Self.folder)/install"), [Self.lockstep], environment: ["DESTDIR": root.path])
    #expect(again.code == 0, "\(again.output)")
    #expect(try String(contentsOfFile: settings, encoding: .utf8) == before + "# mine\n")
    #expect(try kept.map { try Data(contentsOf: URL(filePath: root.path + $0)) } == files)
  }

  @Test func `install names what it was given and what it wants`() throws {
    for (arguments, code) in [
      ([Self.lockstep, "10"], 64), ([Self.lockstep, "0"], 64), (["/nowhere"], 66),
      ([Tools.path("deploy")], 66),
    ] as [([String], Int32)] {
      let outcome = try Tools.run(
        Tools.path("\(Self.folder)/install"), arguments, environment: ["DESTDIR": "/nowhere"])
      #expect(outcome.code == code, "\(outcome.output)")
      #expect(outcome.output.hasPrefix("install: "))
    }
  }

  @Test(arguments: roles)
  func `a role's unit gives it flags and settings that it has`(role: String) throws {
    let unit = try Self.unit(role)
    let command = try #require(unit.firstMatch(of: #/ExecStart=(?s)(.*?[^\\])\n/#)?.1)
    #expect(command.hasPrefix("/usr/local/bin/lockstep \(role) "))
    let help = try Tools.run(Self.lockstep, [role, "--help"]).output
    for flag in command.matches(of: #/--[a-z-]+/#).map({ String($0.0) }) {
      #expect(help.contains(", \(flag)\n"), "\(role) has no \(flag)")
    }
    let file = try Tools.text("\(Self.folder)/etc/\(role).env")
    for name in file.matches(of: #/(?m)^#?(LOCKSTEP_[A-Z_]+)=/#).map({ String($0.1) }) {
      #expect(help.contains("  \(name),"), "\(role) has no \(name)")
    }
  }

  @Test func `no two roles share a port, and the proxy knows the APIs'`() throws {
    var ports: Set<Substring> = []
    for role in Self.roles {
      let unit = try Self.unit(role)
      for match in unit.matches(of: #/127\.0\.0\.1:([0-9]{3})%i/#) {
        #expect(ports.insert(match.1).inserted, "\(role): \(match.0)")
      }
    }
    #expect(ports.count == Self.roles.count + 1)
    let restart = try Tools.text("\(Self.folder)/rolling-restart")
    for role in Self.roles {
      let unit = try Self.unit(role)
      let port = try #require(unit.firstMatch(of: #/--admin-addr 127\.0\.0\.1:([0-9]{3})%i/#)?.1)
      #expect(restart.contains("[\(role)]=\(port)"))
    }
    let proxy = try Tools.text("deploy/proxy/nginx.conf")
    for instance in 1...2 { #expect(proxy.contains("server 127.0.0.1:808\(instance)")) }
  }

  @Test func `systemd waits longer than a role may take to drain`() throws {
    let common = try Tools.text("\(Self.folder)/lockstep-.service.d/10-every-role.conf")
    let seconds = common.firstMatch(of: #/TimeoutStopSec=([0-9]+)s/#).flatMap { Int($0.1) }
    // The default grace and RoleProcess' last wait.
    #expect(try #require(seconds) > 20 + 5)
  }
}

import Foundation
import Testing

@Suite struct ScriptTests {
  private func scripts() throws -> [String] {
    let names = FileManager.default.enumerator(atPath: Tools.path("deploy"))
    return try (names?.allObjects as? [String] ?? []).sorted().map { "deploy/\($0)" }
      .filter { name in
        let attributes = try FileManager.default.attributesOfItem(atPath: Tools.path(name))
        guard attributes[.type] as? FileAttributeType == .typeRegular else { return false }
        return try Data(contentsOf: URL(filePath: Tools.path(name))).starts(with: Data("#!".utf8))
      }
  }

  @Test func `shellcheck has nothing to say against any script, and each can be run`() throws {
    let scripts = try scripts()
    #expect(scripts.count >= 8)
    let outcome = try Tools.run(
      "/usr/bin/shellcheck", ["--severity=warning"] + scripts.map(Tools.path))
    #expect(outcome.code == 0)
    #expect(outcome.output == "")
    for script in scripts {
      #expect(FileManager.default.isExecutableFile(atPath: Tools.path(script)), "\(script)")
    }
  }

  /// The path of a shell on which nothing but these stands, so that nothing else can happen.
  private func path(of programs: String...) throws -> Folder {
    let folder = try Folder()
    for program in programs {
      try FileManager.default.createSymbolicLink(
        atPath: "\(folder.path)/\(program)", withDestinationPath: "/usr/bin/\(program)")
    }
    return folder
  }

  @Test(arguments: ["demo", "loadtest", "test"])
  func `without Swift nothing is installed`(script: String) throws {
    let path = try path(of: "bash", "dirname")
    defer { withExtendedLifetime(path) {} }
    let outcome = try Tools.run(
      Tools.path("deploy/\(script)"), [], environment: ["PATH": path.path, "LOCKSTEP_BIN": ""])
    #expect(outcome.code == 69)
    #expect(outcome.output == "\(script): no swift on the path: want Swift 6.3\n")
  }

  @Test func `each says with --help what stands at its head, and does nothing`() throws {
    let path = try path(of: "bash", "sed")
    defer { withExtendedLifetime(path) {} }
    for script in try scripts() {
      let head = try Tools.text(script).split(separator: "\n", omittingEmptySubsequences: false)
        .dropFirst().prefix { $0.hasPrefix("#") }
        .map { $0.dropFirst($0.hasPrefix("# ") ? 2 : 1) }
      try #require(head.count >= 3, "\(script)")
      for flag in ["--help", "-h"] {
        let outcome = try Tools.run(
          Tools.path(script), [flag], environment: ["PATH": path.path])
        #expect(outcome.code == 0, "\(script)")
        #expect(outcome.output == head.joined(separator: "\n") + "\n", "\(script)")
      }
    }
  }

  @Test(arguments: [
    ("demo", ["--pace"], #"demo: --pace "": want seconds, as 2 or 0.5"#),
    ("demo", ["--pace", "fast"], #"demo: --pace "fast": want seconds, as 2 or 0.5"#),
    ("demo", ["--twice"], "demo: no flag --twice; there are --once, --ttl and --pace SECONDS"),
    ("loadtest", ["--steady"], #"loadtest: --steady "": want events a second, as 600"#),
    ("install", ["all"], #"install: "all": want build, tests or nothing"#),
    ("systemd/install", [], "install: wanted: install PROGRAM [N]"),
    (
      "systemd/rolling-restart", ["api", "web"],
      "rolling-restart: no role web; there are payload-builder apns-sender notifier"
        + " webpush-sender fcm-sender ops api"
    ),
  ])
  func `what is called wrongly says what was given and what was wanted`(
    script: String, arguments: [String], answer: String
  ) throws {
    let outcome = try Tools.run(Tools.path("deploy/\(script)"), arguments)
    #expect(outcome.code == 64)
    #expect(outcome.output == answer + "\n")
  }

  @Test func `no script leaves the answer to bash, which gives a line's number`() throws {
    for script in try scripts() {
      #expect(try Tools.text(script).firstMatch(of: #/\$\{[A-Za-z0-9_]+:?\?/#) == nil, "\(script)")
    }
  }

  @Test func `compose's secrets are made once, and each account gets its own`() throws {
    let folder = try Folder()
    let lockstep = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
      .deletingLastPathComponent().appending(path: "lockstep").path(percentEncoded: false)
    let secrets = folder.path + "/secrets"
    let environment = ["LOCKSTEP": lockstep, "LOCKSTEP_ACCOUNT": "\(getuid()):\(getgid())"]
    func prepare() throws -> [String: String] {
      let outcome = try Tools.run(
        Tools.path("deploy/compose/prepare"), [secrets], environment: environment)
      try #require(outcome.code == 0, "\(outcome.output)")
      #expect(outcome.output.contains("put your own \(secrets)/apns.p8 there"))
      let names = try FileManager.default.contentsOfDirectory(atPath: secrets)
      return try names.reduce(into: [:]) {
        $0[$1] = try String(contentsOfFile: "\(secrets)/\($1)", encoding: .utf8)
      }
    }
    let made = try prepare()
    #expect(try prepare() == made)
    let compose = try Tools.text("deploy/compose/compose.yaml")
    for match in compose.matches(of: #/secrets\/([a-z-]+\.env)/#) {
      #expect(made[String(match.1)] != nil, "\(match.1)")
    }
    #expect(made["vapid.pem"]?.hasPrefix("-----BEGIN PRIVATE KEY-----") == true)
    #expect(made["passwords"]?.contains("admin=") == false)
    let urls = made.values.flatMap { text in
      text.matches(of: #/LOCKSTEP_AMQP_URL=amqp://([a-z-]+):([0-9a-f]{32})@rabbitmq/#)
        .map { "\($0.1) \($0.2)" }
    }
    #expect(Set(urls.map { $0.split(separator: " ")[1] }).count == 8, "one password each")
  }
}

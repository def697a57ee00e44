import Foundation
import HTTPClient
import TestSupport
import Testing

extension EndToEnd {
  @Suite struct SettingsTests {
    private static let roles = ["api", "payload-builder", "apns-sender", "notifier", "run"]

    @Test(arguments: ["help", "topology export"])
    func `Output that no disk took is no success`(words: String) throws {
      let environment = [
        "LOCKSTEP": Programs.lockstep.path(percentEncoded: false),
        "LOCKSTEP_QUEUES_FILE": Programs.queuesFile.path(percentEncoded: false),
      ]
      let outcome = try Programs.run(
        URL(filePath: "/bin/sh"), ["-c", "\"$LOCKSTEP\" \(words) >/dev/full"],
        environment: environment)
      #expect(outcome.code == 69)
      #expect(outcome.errors == "lockstep: standard output: No space left on device\n")
    }

    @Test(arguments: roles)
    func `A variable that is almost a setting is not passed over`(role: String) throws {
      let outcome = try Programs.lockstep(
        role, environment: ["LOCKSTEP_SHUTDWON_GRACE_SECONDS": "5", "LOCKSTEP_PORT": "tcp://x"])
      #expect(outcome.code == 78)
      #expect(
        outcome.errors.contains(
          "LOCKSTEP_SHUTDWON_GRACE_SECONDS: there is no such setting;"
            + " is LOCKSTEP_SHUTDOWN_GRACE_SECONDS meant?"))
      #expect(!outcome.errors.contains("LOCKSTEP_PORT"), "others may name theirs so")
    }

    @Test(arguments: roles)
    func `All problems with settings are named at once`(role: String) throws {
      let outcome = try Programs.lockstep(
        role,
        environment: [
          "LOCKSTEP_AMQP_URL": "http://user:hidden-word@nowhere",
          "LOCKSTEP_DATABASE_URL": "mysql://x",
          "LOCKSTEP_QUEUES_FILE": "/nowhere/queues.yaml", "LOCKSTEP_ADMIN_ADDR": "here",
          "LOCKSTEP_LOG": "loud", "LOCKSTEP_SHUTDOWN_GRACE_SECONDS": "301",
        ])
      #expect(outcome.code == 78)
      for (name, value) in [
        ("DATABASE_URL", "mysql://x"), ("QUEUES_FILE", "/nowhere/queues.yaml"),
        ("ADMIN_ADDR", "here"), ("LOG", "loud"), ("SHUTDOWN_GRACE_SECONDS", "301"),
        ("AMQP_URL", "…"),
      ] {
        #expect(outcome.errors.contains("LOCKSTEP_\(name)=\(value): "), "\(outcome.errors)")
      }
      #expect(!outcome.errors.contains("hidden-word"), "a password is never shown")
      if role == "api" || role == "run" {
        #expect(outcome.errors.contains("LOCKSTEP_AUTH_KEYS_FILE is not set"))
      }
      if role == "apns-sender" || role == "run" {
        for name in ["KEY_FILE", "TEAM_ID", "BUNDLE_ID"] {
          #expect(outcome.errors.contains("LOCKSTEP_APNS_\(name) is not set"))
        }
      }
    }

    @Test(arguments: [
      ("", "is not set: want the app's bundle id"),
      (
        "app.example.cook.push-type.liveactivity",
        "=app.example.cook.push-type.liveactivity: want the bundle id without"
          + " .push-type.liveactivity; it is added"
      ),
    ])
    func `B-2 a bundle id that is empty or has the suffix stops the start`(
      bundle: String, complaint: String
    ) throws {
      for role in ["apns-sender", "run"] {
        let outcome = try Programs.lockstep(
          role, environment: ["LOCKSTEP_APNS_BUNDLE_ID": bundle])
        #expect(outcome.code == 78, "\(role)")
        #expect(outcome.errors.contains("LOCKSTEP_APNS_BUNDLE_ID\(bundle.isEmpty ? " " : "")"))
        #expect(outcome.errors.contains(complaint), "\(outcome.errors)")
      }
    }

    @Test(arguments: ["", "foo", "mailto:x@localhost"])
    func `F-1 a subject that Apple refuses stops the start`(subject: String) throws {
      let file = FileManager.default.temporaryDirectory.appending(
        path: "vapid-\(UUID().uuidString).pem")
      // Whatever is left of it goes with the machine's temporary files.
      defer { try? FileManager.default.removeItem(at: file) }
      let keys = file.path(percentEncoded: false)
      #expect(try Programs.lockstep("vapid", "generate", "--to", keys).code == 0)
      for role in ["webpush-sender", "run"] {
        let outcome = try Programs.lockstep(
          role, environment: ["LOCKSTEP_VAPID_KEY_FILE": keys, "LOCKSTEP_VAPID_SUBJECT": subject])
        #expect(outcome.code == 78, "\(role)")
        #expect(outcome.errors.contains("LOCKSTEP_VAPID_SUBJECT"), "\(outcome.errors)")
      }
    }

    @Test(arguments: [
      ["nonsense"], ["api", "--nonsense", "1"], ["api", "--http-addr"], ["topology"],
      ["topology", "destroy"], ["token"], ["payload-builder", "word"], ["simulator"],
    ])
    func `A command that is asked for in a wrong way exits 64`(arguments: [String]) throws {
      let outcome = try Programs.run(Programs.lockstep, arguments)
      #expect(outcome.code == 64, "\(arguments): \(outcome.errors)")
      #expect(outcome.errors.hasPrefix("lockstep: "))
      #expect(outcome.output.isEmpty)
    }

    /// The names in `deploy/environment.example`, without prefix.
    private func examples() throws -> Set<String> {
      let file = Programs.repository.appending(path: "deploy/environment.example")
      let text = try String(contentsOf: file, encoding: .utf8)
      return Set(text.matches(of: /((?:LOCKSTEP|OTEL)_[A-Z_]+)=/).map { String($0.output.1) })
    }

    @Test func `The help of all commands names every setting of the example, and no other`() throws
    {
      let overview = try Programs.lockstep("--help")
      #expect(overview.code == 0)
      let commands = overview.output.matches(of: #/\n  ([a-z-]+) {3}/#).map { String($0.output.1) }
      #expect(Set(Self.roles + ["topology", "token", "simulator"]).isSubset(of: commands))
      var named: Set<String> = []
      for command in commands where command != "help" {
        let help = try Programs.lockstep(command, "--help")
        #expect(help.code == 0, "\(command)")
        named.formUnion(
          help.output.matches(of: /((?:LOCKSTEP|OTEL)_[A-Z_]+),/).map { String($0.output.1) })
      }
      let shown = try examples()
      #expect(named.subtracting(shown) == [], "not in the example")
      #expect(shown.subtracting(named) == [], "in no command's help")
    }

    @Test func `A flag wins over the environment`() throws {
      let outcome = try Programs.lockstep(
        "api", "--log", "quiet", environment: ["LOCKSTEP_LOG": "json"])
      #expect(outcome.code == 78)
      #expect(outcome.errors.contains("--log=quiet: "))
    }

    @Test func `A minted token is taken by the API`() throws {
      let installation = try Installation()
      try installation.start(.api)
      let minted = try Programs.lockstep(
        "token", "--user", "dennis", environment: installation.settings)
      #expect(minted.code == 0)
      let token = minted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      let answer = try installation.send("dennis", "GET", "/api/notifications", bearer: token)
      #expect(answer.status == 200)
    }
  }
}

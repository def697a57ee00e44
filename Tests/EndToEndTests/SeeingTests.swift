import Foundation
import Testing
import Vocabulary

extension EndToEnd {
  @Suite struct SeeingTests {
    private static let pinned: [Role: [String]] = [
      .api: [
        "lockstep_events_accepted_total", "lockstep_events_published_total",
        "lockstep_confirm_latency_seconds_count", "lockstep_outbox_events",
        "lockstep_outbox_oldest_seconds",
      ],
      .payloadBuilder: [#"lockstep_stage_messages_total{outcome="done",stage="build"}"#],
      .apnsSender: [
        #"lockstep_critical_time_seconds_bucket{activity="cooksuggest","#,
        #"lockstep_critical_time_seconds_count{activity="cooksuggest"}"#,
        "lockstep_provider_token_age_seconds", "lockstep_apns_connections ",
        #"lockstep_stage_age_seconds_count{stage="apns"}"#, "process_cpu_seconds_total",
        #"lockstep_stage_messages_total{outcome="done",stage="apns"}"#,
        #"lockstep_pushes_total{environment="production",push_type="liveactivity",reason="","#
          + #"status="200"}"#,
        "lockstep_guard_trips_total",
      ],
      .notifier: [
        #"lockstep_stage_messages_total{outcome="done",stage="notify"}"#,
        #"lockstep_notifications_total{channel="inbox",outcome="#,
      ],
    ]

    @Test func `Metrics have Prometheus' form, and no token stands whole in a log`() throws {
      let installation = try Installation(running: [.simulator] + Role.separate)
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try session.playToProposals()
      // One phone is gone without a word, so that a token is pruned.
      try installation.phones.make("jaqueline", "uninstall")
      try session.act("dennis", "pick", ["proposal_id": "p1"])
      let pruned = "lockstep_tokens_pruned_total{"
      try installation.wait(for: "a token to be pruned") {
        try installation.metrics(of: .apnsSender).contains(pruned)
      }
      for role in Role.separate {
        for name in Self.pinned[role] ?? [] {
          try installation.wait(for: "\(role.rawValue) to show \(name)") {
            try installation.metrics(of: role).contains("\n" + name)
          }
        }
        let text = try installation.metrics(of: role)
        checkForm(text, of: role)
        let checked = try Programs.run(
          URL(filePath: "/usr/bin/promtool"), ["check", "metrics"], input: text)
        #expect(
          checked.code == 0 && checked.errors.isEmpty, "\(role.rawValue): \(checked.errors)")
      }
      try checkLogs(installation)
    }

    /// The text exposition format 0.0.4: each family is announced once, before its series.
    private func checkForm(_ text: String, of role: Role) {
      var type: [Substring: Substring] = [:]
      #expect(text.hasSuffix("\n"))
      for line in text.split(separator: "\n") {
        if let announced = line.firstMatch(
          of: /^# TYPE ([a-z_]+) (counter|gauge|histogram)$/)
        {
          #expect(type[announced.output.1] == nil, "\(role.rawValue): \(line)")
          type[announced.output.1] = announced.output.2
        } else if !line.hasPrefix("# HELP ") {
          let series = line.firstMatch(
            of: /^((?:lockstep|process)_[a-z_]+?)(_bucket|_sum|_count)?(\{.*\})? -?[0-9.e+-]+$/)
          let name = series?.output.1
          let whole = series.map { $0.output.1 + ($0.output.2 ?? "") }
          #expect(
            name.map { type[$0] != nil } ?? false || whole.map { type[$0] != nil } ?? false,
            "\(role.rawValue): \(line)")
        }
      }
    }

    private func checkLogs(_ installation: Installation) throws {
      let tokens = try installation.storedTokens()
      #expect(tokens.count >= 5, "two phones with two tokens, and a card at least")
      for role in Role.separate {
        let log = try installation.log(of: role).lowercased()
        #expect(!log.isEmpty)
        for token in tokens {
          #expect(!log.contains(token.prefix(16)), "\(role.rawValue) shows a token")
        }
        for word in ["kürbiscurry", "groß", "eyj", "begin private key"] {
          #expect(!log.contains(word), "\(role.rawValue) shows \(word)")
        }
      }
    }
  }
}

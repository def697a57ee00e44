import Cryptography
import Foundation
import HTTPClient
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// The notifier is killed again and again while people are invited; each invited one has two
  /// phones and a browser.
  @Suite struct NotifierCrashTests {
    /// `LOCKSTEP_TEST_INVITATIONS` asks for another number, 1 to 900.
    private static let invitations: Int = {
      Int(ProcessInfo.processInfo.environment["LOCKSTEP_TEST_INVITATIONS"] ?? "") ?? 60
    }()
    private static let invited = (0..<10).map { "guest\($0)" }
    private static let phonesEach = 2
    private static let webPushQueue = "webpush"
    /// How long a notifier lives after it was started: from dying while it connects to dying in the
    /// middle of its work, in a debug build.
    private static let life_ms = 20...500

    private let seed = UInt64.random(in: 0 ... .max)

    @Test func `Everybody is told once on each channel although the notifier is killed`() throws {
      let installation = try Installation()
      try installation.offerWebPush()
      try installation.applyTopology()
      for role in [Role.simulator, .api, .apnsSender] { try installation.start(role) }
      for user in Self.invited {
        for number in 0..<Self.phonesEach {
          try installation.phones.add(user, id: "\(user)-\(number)")
        }
        try subscribe(user, installation)
      }
      let (sessions, kills) = try inviteWhileKilling(installation)
      try installation.start(.notifier)
      try awaitAll(sessions, installation)

      let expected = Set(sessions.flatMap(\.value).map { "cs-invite-\($0)" })
      try expectOneRecordEach(sessions, installation)
      try expectOneAlertEach(expected, installation)
      try expectOneWebPushEach(expected, installation)
      #expect(kills >= 3, "seed \(seed)")
      for stage in ["notify", "apns"] {
        #expect(try installation.messages(in: "dead.\(stage)").isEmpty)
      }
    }

    private func subscribe(_ user: String, _ installation: Installation) throws {
      _ = try installation.ask(
        user, "POST", "/api/webpush/subscriptions",
        [
          "endpoint": .string("https://fcm.googleapis.com/fcm/send/\(user)"),
          "keys": [
            "p256dh": .string(Base64URL.encode(AgreementKey.generate().publicKey)),
            "auth": .string(Base64URL.encode(RandomBytes.make(16))),
          ],
        ])
    }

    // MARK: Killing

    /// - Returns: the sessions that each was invited to, and how often the notifier was killed.
    private func inviteWhileKilling(_ installation: Installation) throws
      -> (sessions: [String: [String]], kills: Int)
    {
      var random = SeededRandom(seed: seed)
      var sessions: [String: [String]] = [:]
      var kills = 0
      var made = 0
      while made < Self.invitations {
        try installation.launch(.notifier)
        let life = Duration.milliseconds(Int.random(in: Self.life_ms, using: &random))
        let end = ContinuousClock.now + life
        // A fast machine must not be done before the notifier has died often enough.
        let share = made + max(1, Self.invitations / 12)
        while ContinuousClock.now < end, made < min(share, Self.invitations) {
          let user = Self.invited[made % Self.invited.count]
          let session = try installation.ask(
            "host\(made % Self.invited.count)", "POST", "/api/cook-suggest/sessions",
            ["date": "2030-01-31", "with_user_id": .string(user)])
          sessions[user, default: []].append(try #require(session["id"]?.text))
          made += 1
        }
        // It has its hands full; some deaths come while it works off what the others left.
        _ = becomesTrue(within: end - ContinuousClock.now) { false }
        installation.kill(.notifier)
        kills += 1
      }
      return (sessions, kills)
    }

    // MARK: What everybody got

    private func awaitAll(_ sessions: [String: [String]], _ installation: Installation) throws {
      let count = sessions.values.map(\.count).reduce(0, +)
      try installation.wait(for: "the last invitations on the phones") {
        try alerts(installation).count >= count * Self.phonesEach
          && isIdle(["notify", "apns"], installation)
      }
    }

    private func isIdle(_ queues: [String], _ installation: Installation) throws -> Bool {
      try queues.allSatisfy { queue in
        let answer = try installation.broker.manage(
          "GET", "/api/queues/\(installation.broker.virtualHost)/\(queue)")
        return try JSONValue(parsing: answer.body)["messages"] == 0
      }
    }

    private func expectOneRecordEach(
      _ sessions: [String: [String]], _ installation: Installation
    ) throws {
      for (user, ids) in sessions {
        var keys: [String] = []
        var page = "/api/notifications?limit=100"
        while true {
          let answer = try installation.ask(user, "GET", page)
          guard case .array(let records)? = answer["notifications"] else { break }
          keys += records.compactMap { $0["dedupe_key"]?.text }
          guard let next = answer["next"]?.text else { break }
          page = "/api/notifications?limit=100&after=\(next)"
        }
        #expect(keys.count == ids.count, "seed \(seed): \(user)")
        #expect(Set(keys) == Set(ids.map { "cs-invite-\($0)" }), "seed \(seed): \(user)")
      }
    }

    /// Dedupe key and phone of each accepted alert, with its ids.
    private func alerts(_ installation: Installation) throws -> [[String]: Set<String>] {
      let accepted = try installation.phones.allPushes().filter {
        $0["push_type"] == "alert" && $0["status"] == 200
      }
      return accepted.reduce(into: [:]) { found, push in
        let phone = push["phone"]?.text ?? ""
        let key = push["collapse_id"]?.text ?? ""
        found[[key, phone], default: []].insert(push["apns_id"]?.text ?? "")
      }
    }

    private func expectOneAlertEach(_ expected: Set<String>, _ installation: Installation) throws {
      let alerts = try alerts(installation)
      #expect(alerts.count == expected.count * Self.phonesEach, "seed \(seed)")
      #expect(Set(alerts.keys.map { $0[0] }) == expected, "seed \(seed)")
      #expect(alerts.values.allSatisfy { $0.count == 1 }, "seed \(seed): two ids of one alert")
    }

    /// Nobody sends them here: all that the notifiers made wait in the queue.
    private func expectOneWebPushEach(
      _ expected: Set<String>, _ installation: Installation
    ) throws {
      let jobs = try installation.messages(in: Self.webPushQueue)
      let ids = jobs.reduce(into: [String: Set<String>]()) { found, job in
        let key = job["properties"]?["headers"]?["x-dedupe-key"]?.text ?? ""
        found[key, default: []].insert(job["properties"]?["message_id"]?.text ?? "")
      }
      #expect(Set(ids.keys) == expected, "seed \(seed)")
      #expect(ids.values.allSatisfy { $0.count == 1 }, "seed \(seed): two ids of one Web Push")
    }
  }
}

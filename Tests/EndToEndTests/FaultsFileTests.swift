import Foundation
import Testing
import Vocabulary

extension EndToEnd {
  /// `lockstep simulator --faults FILE`, and the real sender against it.
  @Suite struct FaultsFileTests {
    /// Each connection fault, at a rate that a session of some thirty pushes meets.
    private static let faults: JSONValue = [
      ["action": "start", "streams": 1], ["action": "narrow"],
      ["action": "goaway", "every": 5], ["action": "limit", "streams": 1, "every": 4],
      ["action": "delay", "delay_ms": 100, "every": 3],
      ["action": "reset", "every": 7, "match": ["event": "update"], "delivers": true],
      ["action": "drop", "every": 9, "match": ["event": "update"]],
      ["action": "poison", "every": 11, "count": 1],
      ["action": "never", "every": 12, "count": 1], ["action": "deaf", "every": 13, "count": 1],
      [
        "action": "answer", "status": 403, "reason": "ExpiredProviderToken", "every": 6, "count": 1,
      ],
      [
        "action": "answer", "status": 429, "reason": "TooManyRequests", "retry_after_seconds": 1,
        "every": 8, "count": 1,
      ],
    ]

    private func installation(faults: JSONValue) throws -> Installation {
      let installation = try Installation()
      let file = installation.directory.appending(path: "faults.json")
      try faults.encoded.write(to: file)
      installation.simulatorOptions = ["--faults", file.path(percentEncoded: false)]
      return installation
    }

    @Test func `A session under every fault of a connection ends with the truth on all phones`()
      throws
    {
      let installation = try installation(faults: Self.faults)
      try installation.applyTopology()
      for role in [Role.simulator] + Role.separate { try installation.start(role) }
      for user in CookSession.people {
        for number in 1...2 { try installation.phones.add(user, id: "\(user)-\(number)") }
      }
      let session = try CookSession.begin(in: installation)
      for number in 1...2 { try installation.phones.startLocally(session, on: "dennis-\(number)") }
      // One after the other: a session that is over before its cards are started starts none.
      func awaitTruth() throws {
        try installation.phones.awaitTruth(cards: 4, within: .seconds(120))
      }
      try awaitTruth()
      for steps in [CookSession.answering, CookSession.deciding] {
        for step in steps {
          try session.act(step.user, step.action, step.body)
          try awaitTruth()
        }
        try session.cook()
        try awaitTruth()
      }
      #expect(try installation.messages(in: "dead.apns").isEmpty)
      let struck = Set(try installation.phones.allPushes().compactMap { $0["fault"]?.text })
      #expect(struck.isSuperset(of: ["goaway", "limit", "delay", "reset"]), "\(struck)")
    }

    @Test func `A file with a mistake stops the start, and the mistake is named`() throws {
      let installation = try installation(faults: [["action": "drop", "cuont": 1]])
      let outcome = try Programs.run(
        Programs.lockstep,
        ["simulator", "--directory", installation.directory.path(percentEncoded: false)]
          + installation.simulatorOptions, environment: installation.settings)
      #expect(outcome.code == 78)
      #expect(outcome.errors.contains("faults[0].cuont: unknown name"), "\(outcome.errors)")
    }
  }
}

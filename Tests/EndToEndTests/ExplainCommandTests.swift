import Foundation
import Pipeline
import Pushes
import SQLiteStore
import Sessions
import TestSupport
import Testing
import Vocabulary

/// `lockstep explain` and `lockstep tokens` on a database that the test made; nothing else runs.
@Suite struct ExplainCommandTests {
  private let database = try? KnownDatabase()

  private func lockstep(_ arguments: String...) throws -> Programs.Outcome {
    let database = try #require(database)
    return try Programs.run(
      Programs.lockstep, arguments, environment: ["LOCKSTEP_DATABASE_URL": database.url])
  }

  private func objects(_ text: String) throws -> [JSONValue] {
    guard case .array(let objects) = try JSONValue(parsing: Data(text.utf8)) else {
      throw Unexpected("not an array: \(text)")
    }
    return objects
  }

  private func expectNoWholeToken(_ outcome: Programs.Outcome) {
    for number in 1...3 {
      #expect(!outcome.output.contains(Samples.token(number).hex))
      #expect(!outcome.errors.contains(Samples.token(number).hex))
    }
  }

  // MARK: explain

  @Test func `a session is explained from the database alone`() throws {
    let outcome = try lockstep("explain", "cs_1")
    #expect(outcome.code == 0, "\(outcome.errors)")
    let fingerprint = Samples.token(2).fingerprint
    for line in [
      "cs_1: answering, rev 2; u_dennis (joined), u_mara (invited)",
      "create by u_dennis → rev 1; event cooksuggest.session.created published",
      "ready by u_dennis → rev 2; event cooksuggest.session.readied published",
      "update of rev 2 to \(fingerprint): 410 Unregistered: the token is dead, pruned",
      "Why does the phone not show rev 2?",
      "u_mara: its update token \(fingerprint) was pruned (Unregistered), "
        + "and no newer one is registered.",
    ] {
      #expect(outcome.output.contains(line), "\(line)\nis not in\n\(outcome.output)")
    }
    #expect(outcome.output.contains("2026-06-18T12:00:00.000Z  +0.000 s  api"))
    #expect(!outcome.output.contains("\u{1B}"), "no colours in a file")
    expectNoWholeToken(outcome)
  }

  @Test func `as JSON it is flat objects under the names of the columns`() throws {
    let outcome = try lockstep("explain", "cs_1", "--user", "u_mara", "--json")
    #expect(outcome.code == 0, "\(outcome.errors)")
    let objects = try objects(outcome.output)
    #expect(objects.first?["source"] == "api")
    #expect(objects.first?["at"] == "2026-06-18T12:00:00.000Z")
    #expect(objects.first?["after_ms"] == 0)
    #expect(objects.last?["source"] == "answer")
    #expect(objects.last?["user_id"] == "u_mara")
    #expect(objects.last?["shows_newest"] == .bool(false))
    let attempt = objects.first { $0["source"] == "sender" }
    #expect(attempt?["token_fingerprint"] == .string(Samples.token(2).fingerprint))
    expectNoWholeToken(outcome)
  }

  @Test(
    arguments: [
      (["explain"], 64), (["explain", "cs_1", "cs_2"], 64), (["explain", ""], 64),
      (["explain", "cs_none"], 66),
      (["explain", "cs_1", "--user", "u_nobody"], 66), (["explain", "cs_1", "--frob"], 64),
      (["tokens"], 64), (["tokens", "destroy"], 64), (["tokens", "list", "--because", "x"], 64),
      (["tokens", "list", "--kind", "fax"], 64), (["tokens", "prune"], 64),
      (["tokens", "prune", "--user", "u_mara"], 64),
      (["tokens", "prune", "--user", "u_mara", "--token", "01234567", "--because", "x"], 64),
      (["tokens", "prune", "--token", "0123456", "--because", "x"], 64),
      (["tokens", "prune", "--token", "ffffffff", "--because", "x"], 66),
      (["tokens", "restore"], 64), (["tokens", "restore", "--reason", "x"], 64),
      (["tokens", "restore", "--reason", "x", "--since", "yesterday"], 64),
      (["tokens", "restore", "--token", "ffffffff"], 66),
    ] as [([String], Int32)])
  func `what is asked for in a wrong way, or is not there, has its own exit code`(
    arguments: [String], code: Int32
  ) throws {
    let database = try #require(database)
    let outcome = try Programs.run(
      Programs.lockstep, arguments, environment: ["LOCKSTEP_DATABASE_URL": database.url])
    #expect(outcome.code == code, "\(arguments): \(outcome.errors)")
    #expect(outcome.errors.hasPrefix("lockstep: "))
    #expect(outcome.output.isEmpty)
  }

  @Test(arguments: [["explain", "cs_1"], ["tokens", "list"]])
  func `without a database it is unavailable, and none is made`(arguments: [String]) throws {
    let path = FileManager.default.temporaryDirectory.path + "/\(UUID().uuidString).db"
    let outcome = try Programs.run(
      Programs.lockstep, arguments, environment: ["LOCKSTEP_DATABASE_URL": "sqlite://\(path)"])
    #expect(outcome.code == 69)
    #expect(
      outcome.errors
        == "lockstep: database \(path): is not there: the first role that starts makes it\n")
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  // MARK: tokens

  @Test func `tokens are listed under aligned columns, by fingerprint only`() throws {
    let outcome = try lockstep("tokens", "list")
    #expect(outcome.code == 0, "\(outcome.errors)")
    let lines = outcome.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 4)
    #expect(lines.first?.hasPrefix("USER ID   KIND            FINGERPRINT  ENVIRONMENT") == true)
    for number in 1...3 {
      #expect(outcome.output.contains("  \(Samples.token(number).fingerprint)  "))
    }
    expectNoWholeToken(outcome)
  }

  @Test(
    arguments: [
      (["--user", "u_mara"], [1, 2]), (["--user", "u_mara", "--kind", "la-update"], [2]),
      (["--pruned"], [2]), (["--kind", "alert"], [3]), (["--user", "u_nobody"], []),
    ] as [([String], [Int])])
  func `the list is narrowed down`(flags: [String], numbers: [Int]) throws {
    let database = try #require(database)
    let outcome = try Programs.run(
      Programs.lockstep, ["tokens", "list", "--json"] + flags,
      environment: ["LOCKSTEP_DATABASE_URL": database.url])
    let found = try objects(outcome.output).map { $0["fingerprint"] }
    #expect(found == numbers.map { .string(Samples.token($0).fingerprint) })
  }

  @Test func `as JSON a row has every column`() throws {
    let outcome = try lockstep("tokens", "list", "--pruned", "--json")
    #expect(
      try objects(outcome.output) == [
        [
          "user_id": "u_mara", "kind": "la-update",
          "fingerprint": .string(Samples.token(2).fingerprint), "environment": "production",
          "bundle_id": nil, "context_key": "cooksuggest:cs_1:u_mara", "device_id": "phone",
          "registered_at": "2026-06-18T12:00:00.000Z", "proven_at": nil,
          "pruned_at": "2026-06-18T12:00:05.000Z", "reason": "Unregistered",
        ]
      ])
  }

  @Test func `a token is pruned with a reason and restored`() throws {
    let one = Samples.token(1).fingerprint
    #expect(
      try lockstep("tokens", "prune", "--token", one, "--because", "stolen").output
        == "1 pruned\n")
    #expect(try lockstep("tokens", "list", "--pruned").output.contains("stolen"))
    #expect(try lockstep("tokens", "prune", "--token", one, "--because", "again").code == 66)
    #expect(try lockstep("tokens", "restore", "--token", one).output == "1 restored\n")
    #expect(!(try lockstep("tokens", "list", "--pruned").output.contains("stolen")))
  }

  @Test func `all tokens of a user are pruned, and restored by reason and time`() throws {
    #expect(
      try lockstep("tokens", "prune", "--user", "u_mara", "--because", "left us").output
        == "1 pruned\n")
    let since = "2026-06-18T12:00:05Z"
    #expect(
      try lockstep("tokens", "restore", "--reason", "left us", "--since", since).output
        == "1 restored\n")
    #expect(
      try lockstep(
        "tokens", "restore", "--reason", "Unregistered", "--since", "2026-06-18T12:00:06Z"
      ).output == "0 restored\n")
    #expect(
      try lockstep("tokens", "restore", "--reason", "Unregistered", "--since", since).output
        == "1 restored\n")
    #expect(try lockstep("tokens", "list", "--pruned").output == "no tokens\n")
  }

  @Test func `an Android phone is listed, pruned and restored like any token`() throws {
    let database = try #require(database)
    let phone = try database.addAndroid()
    let listed = try lockstep("tokens", "list", "--kind", "fcm", "--json")
    #expect(
      try objects(listed.output) == [
        [
          "user_id": "u_mara", "kind": "fcm", "fingerprint": .string(phone.fingerprint),
          "environment": nil, "bundle_id": "app.example.cook", "context_key": nil,
          "device_id": "pixel", "registered_at": "2026-06-18T12:00:00.000Z", "proven_at": nil,
          "pruned_at": nil, "reason": nil,
        ]
      ])
    #expect(!listed.output.contains(phone.text))
    #expect(try objects(lockstep("tokens", "list", "--json").output).count == 4)
    #expect(try objects(lockstep("tokens", "list", "--unbound", "--json").output).isEmpty)
    #expect(
      try lockstep("tokens", "prune", "--token", phone.fingerprint, "--because", "stolen").output
        == "1 pruned\n")
    #expect(try lockstep("tokens", "list", "--pruned").output.contains("stolen"))
    #expect(
      try lockstep("tokens", "restore", "--token", phone.fingerprint).output == "1 restored\n")
    #expect(
      try lockstep("tokens", "prune", "--user", "u_mara", "--because", "left us").output
        == "2 pruned\n")
    #expect(
      try lockstep(
        "tokens", "restore", "--reason", "left us", "--since", "2026-06-18T12:00:05Z"
      ).output == "2 restored\n")
  }
}

/// A session of two, whose invited one's update token has died.
final class KnownDatabase {
  let url: String
  private let folder: URL
  private let store: SQLiteStore

  init() throws {
    folder = FileManager.default.temporaryDirectory
      .appending(path: "lockstep-explain-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appending(path: "lockstep.db").path(percentEncoded: false)
    url = "sqlite://\(path)"
    store = try SQLiteStore(path: path)
    let mara = Samples.mara.userID
    var story = try CookStory()
    try story.go(.ready(true), by: Samples.dennis)
    let context = story.context(Samples.mara)
    try store.write { [story] rows in
      try rows.save(story.session)
      for mutation in story.mutations { try rows.save(mutation) }
      try rows.register(Samples.registration(Samples.token(1), of: mara, .pushToStart))
      try rows.register(
        Samples.registration(
          Samples.token(2), of: mara, .update, context: context, device: "phone"))
      try rows.register(
        Samples.registration(Samples.token(3), of: Samples.dennis.userID, .alert))
      try rows.save([
        ActivityState(
          contextKey: context, sessionID: story.session.id, userID: mara, rev: 2, event: .update,
          contentState: Data("{}".utf8), attributesType: "T", attributes: nil, alertTitle: nil,
          alertBody: nil, staleAt: nil, dismissAt: nil, deadline: Samples.noon + .seconds(7200),
          causedAt: Samples.noon, traceparent: nil)
      ])
      try rows.save([
        BuildRecord(
          sessionID: story.session.id, userID: mara, contextKey: context, rev: 2,
          outcome: .stored, updateJobs: 1, builtAt: Samples.noon + .milliseconds(1010))
      ])
      try rows.save([
        DeliveryRecord(
          jobID: "0190f3a2-0000-8000-8000-0000000000ab", sessionID: story.session.id,
          userID: mara, contextKey: context, rev: 2,
          tokenFingerprint: Samples.token(2).fingerprint, event: "update", status: 410,
          reason: "Unregistered", attempt: 1, causedAt: Samples.noon + .seconds(1),
          settledAt: Samples.noon + .milliseconds(1200), consequence: .pruned)
      ])
      _ = try rows.prune(
        Samples.token(2), because: "Unregistered",
        unlessRegisteredAfter: Samples.noon + .seconds(5))
    }
  }

  /// An Android phone of Mara's.
  func addAndroid() throws -> FCMToken {
    let token = try FCMToken("cXy_1:APA91bKKKK")
    try store.write {
      try $0.register(
        FCMRegistration(
          userID: Samples.mara.userID, token: token, deviceID: "pixel",
          packageName: "app.example.cook", registeredAt: Samples.noon))
    }
    return token
  }

  // Nothing depends on it: the folder is in the temporary one.
  deinit { try? FileManager.default.removeItem(at: folder) }
}

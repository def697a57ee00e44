import Foundation
import HTTPClient
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// Two of each role on one PostgreSQL, as on two machines.
  @Suite struct PostgreSQLTests {
    /// Whose events are recorded from the first on.
    private func crew(on url: String) throws -> (Installation, Crew) {
      let installation = try Installation()
      installation.settings["LOCKSTEP_DATABASE_URL"] = url
      try installation.applyTopology()
      try installation.start(.simulator)
      try installation.record()
      let crew = try Crew(of: installation)
      try installation.phones.add("jaqueline")
      return (installation, crew)
    }

    @Test func `Processes and the database die under load, and nothing is lost, doubled or turned`()
      throws
    {
      let database = try PrivateDatabase()
      let (installation, crew) = try crew(on: database.url)
      let play = try Play(installation, sessions: 4)
      try play.dither()

      try crew.killOne(.api, working: play.dither)
      try crew.killOne(.payloadBuilder, working: play.dither)
      try crew.killOne(.apnsSender, working: play.dither)
      try installation.expectAllArrived(sessions: 4)

      // Once in good order, once as a power cut, each in the middle of what goes on.
      try play.dither()
      try database.stop()
      try database.start()
      try play.dither()
      try database.kill()
      try database.start()
      try play.dither()
      try play.begin()
      try installation.expectAllArrived(sessions: 5)

      try play.decide()
      try installation.expectAllArrived(sessions: 5)
      try installation.expectEachEventOnce(play, died: true)
      try crew.dismissAll()
    }

    @Test func `A standby takes over from a primary that dies, and nothing accepted is lost`()
      throws
    {
      let primary = try PrivateDatabase()
      let standby = try PrivateDatabase(following: primary)
      let (installation, crew) = try crew(on: primary.url(orElse: standby))
      let play = try Play(installation, sessions: 3)
      try play.dither()
      try primary.kill()
      let refused = try installation.send("jaqueline", "GET", play.sessions[0].path)
      #expect(refused.status == 503)
      try standby.promote()
      try play.dither()
      try play.begin()
      try installation.expectAllArrived(sessions: 4)
      try play.decide()
      try installation.expectAllArrived(sessions: 4)
      try installation.expectEachEventOnce(play, died: true)
      try crew.dismissAll()
    }

    @Test func `While the database is away the roles say so, and they go on when it is back`()
      throws
    {
      let database = try PrivateDatabase()
      let installation = try Installation()
      let url = try database.url
      let password = try #require(url.split(separator: ":")[2].split(separator: "@").first)
      installation.settings["LOCKSTEP_DATABASE_URL"] = url
      try installation.applyTopology()
      try installation.start(.simulator)
      for role in Role.separate { try installation.launch(role) }
      for role in Role.separate { try installation.awaitReady(role) }
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      try session.act("jaqueline", "join")
      try installation.phones.awaitTruth(cards: 2)

      try database.stop()
      let refused = try installation.send(
        "dennis", "POST", "\(session.path)/ready", Data("{}".utf8))
      #expect(refused.status == 503 || refused.status == 422)
      let away = try installation.send("dennis", "GET", session.path)
      #expect(away.status == 503)
      #expect(away.headers["retry-after"] != nil)
      try installation.wait(for: "the relay to say that the outbox cannot be read") {
        try installation.readiness(of: .api).status == "degraded"
      }
      for role in Role.separate { #expect(installation.children[role]?.isRunning == true) }

      // Looking at it without it: named, and without the password.
      let explained = try Programs.lockstep(
        "explain", session.id, environment: ["LOCKSTEP_DATABASE_URL": url])
      #expect(explained.code == 69)
      #expect(explained.errors.contains("cannot be reached"))
      try database.start()
      for (user, action, body) in CookSession.answering.dropFirst() {
        try session.act(user, action, body)
      }
      try session.cook()
      try session.playToDecision()
      try installation.phones.awaitTruth(cards: 2)
      try installation.wait(for: "the roles to be well") {
        try Role.separate.allSatisfy { try installation.readiness(of: $0).status == "ok" }
      }
      for role in Role.separate {
        #expect(try !installation.log(of: role).contains(password), "\(role)")
      }
      #expect(!explained.errors.contains(password))

      let whole = try Programs.lockstep(
        "explain", session.id, environment: ["LOCKSTEP_DATABASE_URL": url])
      #expect(whole.code == 0, "\(whole.errors)")
      let tokens = try Programs.lockstep(
        "tokens", "list", "--json", environment: ["LOCKSTEP_DATABASE_URL": url])
      #expect(tokens.code == 0, "\(tokens.errors)")
      #expect(tokens.output.contains("la-update"))
    }

    @Test func `A wrong address is named without its password`() throws {
      for (url, want) in [
        ("postgresql://u:hidden-word@h/d?nonsense=1", "want postgresql://"),
        ("postgresql://u:hidden-word%zz@h/d", "want postgresql://"),
        ("mysql://u:hidden-word@h/d", "want sqlite:///absolute/path or postgresql://"),
      ] {
        let outcome = try Programs.lockstep(
          "tokens", "list", environment: ["LOCKSTEP_DATABASE_URL": url])
        #expect(outcome.code == 78)
        #expect(outcome.errors.contains(want), "\(outcome.errors)")
        #expect(!outcome.errors.contains("hidden-word"))
      }
    }

    @Test func `A backup of PostgreSQL is pg_dump's`() throws {
      let script = Programs.repository.appending(path: "deploy/backup")
      let outcome = try Programs.run(script, ["postgresql://u:hidden-word@h/d", "/nowhere"])
      #expect(outcome.code == 64)
      #expect(outcome.errors.contains("pg_dump"))
      #expect(!outcome.errors.contains("hidden-word"))
    }
  }
}

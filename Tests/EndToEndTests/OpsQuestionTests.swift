import Foundation
import HTTPClient
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// What the operators' page is asked in a wrong way, or about what is not there.
  @Suite struct OpsQuestionTests {
    private let installation: Installation
    private let database: KnownDatabase

    init() throws {
      installation = try Installation()
      database = try KnownDatabase()
      installation.settings["LOCKSTEP_DATABASE_URL"] = database.url
      try installation.applyTopology()
      try installation.start(.ops)
    }

    private func ask(_ method: String, _ path: String, _ body: String = "") throws
      -> (status: Int, detail: String)
    {
      let answer = try installation.client.send(
        method, "\(installation.adminURL(of: .ops))/ops/\(path)",
        headers: ["x-lockstep-ops": "1", "content-type": "application/json"],
        body: method == "POST" ? Data(body.utf8) : nil)
      let detail = try JSONValue(parsing: answer.body)["detail"]
      return (Int(answer.status), detail?.text ?? "")
    }

    @Test func `Explain wants one session, and says what it was given`() throws {
      let wanted = "want session=ID once, and at most once user=ID; given: "
      for (query, given) in [
        ("", "nothing"), ("?", "nothing"), ("?session=", "session="), ("?session", "session="),
        ("?user=u_mara", "user=u_mara"), ("?sesion=cs_1", "sesion=cs_1"),
        ("?session=cs_1&session=cs_2", "session=cs_1&session=cs_2"),
        ("?session=cs_1&frob=1", "session=cs_1&frob=1"),
        ("?session=cs_1&user=a&user=b", "session=cs_1&user=a&user=b"),
      ] {
        let answer = try ask("GET", "explain\(query)")
        #expect(answer == (400, wanted + given), "\(query)")
      }
      for (query, detail) in [
        (
          "session=cs_none",
          "nothing is known of session cs_none: it never was here, or its "
            + "records are old"
        ),
        (
          "session=cs_1&user=u_nobody",
          "u_nobody takes no part in cs_1; there are: u_dennis, u_mara"
        ),
      ] {
        let answer = try ask("GET", "explain?\(query)")
        #expect(answer == (404, detail), "\(query)")
      }
      for query in ["session=cs_1", "session=cs_1&user=", "user=u_mara&session=cs_1"] {
        #expect(try ask("GET", "explain?\(query)").status == 200, "\(query)")
      }
    }

    @Test func `Sending back wants a stage and a reason, and a stage that there is`() throws {
      for body in [
        "", "[]", "{", "{}", #"{"stage":"apns"}"#, #"{"reason":"busy"}"#,
        #"{"stage":7,"reason":"busy"}"#, #"{"stage":"","reason":"busy"}"#,
      ] {
        let answer = try ask("POST", "dead/replay", body)
        #expect(answer.status == 400, "\(body)")
        #expect(answer.detail.hasPrefix("want {\"stage\": …, \"reason\": …}; given: "), "\(body)")
        #expect(answer.detail.hasSuffix(body.isEmpty ? "nothing" : body))
      }
      let unknown = try ask("POST", "dead/replay", #"{"stage":"fax","reason":"busy"}"#)
      #expect(unknown.status == 404)
      #expect(unknown.detail.hasPrefix("there is no stage fax; there are: "), "\(unknown.detail)")
      #expect(unknown.detail.contains("apns"))
      #expect(try ask("POST", "dead/replay", #"{"stage":"apns","reason":"busy"}"#).status == 200)
    }
  }
}

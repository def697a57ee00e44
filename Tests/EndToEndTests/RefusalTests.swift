import Cryptography
import Foundation
import HTTPClient
import Pipeline
import Testing
import Vocabulary

extension EndToEnd {
  @Suite struct RefusalTests {
    private let installation: Installation
    private let session: CookSession

    init() throws {
      installation = try Installation()
      try installation.start(.api)
      session = try CookSession.begin(in: installation)
    }

    private func post(_ action: String, _ body: String, as user: String = "dennis") throws
      -> (status: Int, problem: JSONValue)
    {
      let answer = try installation.send(
        user, "POST", "\(session.path)/\(action)", Data(body.utf8))
      #expect(answer.headers["content-type"] == "application/problem+json")
      #expect(answer.headers["x-request-id"]?.isEmpty == false)
      let problem = try JSONValue(parsing: answer.body)
      #expect(problem["status"]?.whole == answer.status)
      #expect(problem["title"]?.text?.isEmpty == false)
      return (answer.status, problem)
    }

    @Test func `Somebody else's session is not there`() throws {
      for (method, path) in [
        ("GET", session.path), ("POST", "\(session.path)/join"), ("POST", "\(session.path)/cancel"),
      ] {
        let answer = try installation.send(
          "mallory", method, path, method == "POST" ? Data("{}".utf8) : nil)
        #expect(answer.status == 404, "\(method) \(path)")
        let unknown = try installation.send(
          "mallory", method, path.replacing(session.id, with: "cs_nothing"),
          method == "POST" ? Data("{}".utf8) : nil)
        // Nobody can find out by asking which sessions there are.
        #expect(unknown.body == answer.body, "\(method) \(path)")
      }
      #expect(try session.rev() == 1)
    }

    @Test func `A token that is not good is refused`() throws {
      let now = SystemTime().now().seconds
      let good = try installation.token("dennis")
      let parts = good.split(separator: ".").map(String.init)
      let none = Base64URL.encode(Data(#"{"alg":"none","typ":"JWT","kid":"demo"}"#.utf8))
      let other = Base64URL.encode(Data(#"{"alg":"RS256","typ":"JWT","kid":"demo"}"#.utf8))
      let claims: [(String, JSONValue)] = [
        ("expired", ["sub": "dennis", "exp": .integer(now - 3600)]),
        ("without exp", ["sub": "dennis"]),
        ("without sub", ["exp": .integer(now + 3600)]),
        (
          "not yet valid",
          ["sub": "dennis", "exp": .integer(now + 7200), "nbf": .integer(now + 3600)]
        ),
      ]
      var tokens = [
        ("alg none", "\(none).\(parts[1])."),
        ("alg none, signed", "\(none).\(parts[1]).\(parts[2])"),
        ("another algorithm", "\(other).\(parts[1]).\(parts[2])"),
        ("cut", "\(parts[0]).\(parts[1])"), ("no token", "garbage"), ("empty", ""),
        ("signature of another", "\(parts[0]).\(parts[1]).\(parts[2].reversed())"),
      ]
      tokens += try claims.map { ($0.0, try installation.token(claims: $0.1)) }
      for (name, token) in tokens {
        let answer = try installation.send("dennis", "GET", session.path, bearer: token)
        #expect(answer.status == 401, "\(name): \(answer.text)")
        #expect(answer.headers["www-authenticate"]?.hasPrefix("Bearer") == true, "\(name)")
      }
      let bare = try installation.client.send("GET", installation.apiURL + session.path)
      #expect(bare.status == 401)
      #expect(try installation.send("dennis", "GET", session.path, bearer: good).status == 200)
    }

    @Test(arguments: [(64 * 1024, 422), (64 * 1024 + 1, 413), (65 * 1024, 413)])
    func `A body has 64 KiB at most`(bytes: Int, status: Int) throws {
      let frame = #"{"answers":{"text":""}}"#
      let body = frame.replacing(
        #""""#, with: "\"\(String(repeating: "a", count: bytes - frame.utf8.count))\"")
      #expect(body.utf8.count == bytes)
      // Within the limit it is only the answers that are too long.
      #expect(try post("answers", body).status == status)
    }

    @Test(arguments: [
      "{", "", "[1,2", #"{"ready":tru}"#, #"{"ready":true}}"#, #"{'ready':true}"#, "\u{0}",
    ])
    func `A body that is no JSON is malformed`(body: String) throws {
      #expect(try post("ready", body).status == 400)
    }

    @Test(arguments: [
      ("ready", #"{"ready":true,"redy":1}"#, "redy"), ("ready", #"{"ready":"yes"}"#, "ready"),
      ("ready", #"{"ready":1}"#, "ready"), ("ready", "{}", "ready"),
      ("answers", #"{"answers":[1]}"#, "answers"), ("pick", #"{"proposal_id":7}"#, "proposal_id"),
      ("join", #"{"speed":1}"#, "speed"),
    ])
    func `A field that is unknown or of the wrong type is named`(
      action: String, body: String, field: String
    ) throws {
      let (status, problem) = try post(action, body)
      #expect(status == 422)
      guard case .array(let errors)? = problem["errors"] else {
        Issue.record("no errors in \(problem)")
        return
      }
      #expect(errors.contains { $0["pointer"]?.text == "/\(field)" }, "\(problem)")
      #expect(problem["detail"]?.text?.contains(field) == true)
    }

    @Test func `A mutation in the wrong state answers with the session as it is`() throws {
      let (status, problem) = try post("pick", #"{"proposal_id":"p1"}"#)
      #expect(status == 409)
      #expect(problem["session"]?["id"]?.text == session.id)
      #expect(problem["session"]?["state"] == "answering")
      #expect(problem["session"]?["rev"] == 1)
      #expect(problem["session"]?["status_label"] == "Dein Partner ist eingeladen")
      try session.act("dennis", "cancel")
      let (after, ended) = try post("ready", #"{"ready":true}"#)
      #expect(after == 409)
      #expect(ended["session"]?["state"] == "cancelled")
    }
  }
}

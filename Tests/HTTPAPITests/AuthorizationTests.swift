import Cryptography
import Foundation
import HTTPServing
import TestSupport
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct AuthorizationTests {
  private func ask(_ world: World, authorization: String?) throws -> HTTPResponse {
    try world.ask(
      "GET", "/api/notifications",
      headers: authorization.map { ["authorization": $0] } ?? [:])
  }

  @Test func `without a token it is a 401 that asks for one`() throws {
    let answer = try ask(World(), authorization: nil)
    #expect(answer.status == 401)
    #expect(answer.header("www-authenticate") == #"Bearer realm="lockstep""#)
    #expect(try answer.problem() == "unauthorized")
  }

  @Test(arguments: ["", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer x", "Bearer a.b.c"])
  func `a malformed authorization is a 401`(field: String) throws {
    #expect(try ask(World(), authorization: field).status == 401)
  }

  @Test func `alg none is a 401`() throws {
    let world = try World()
    func part(_ text: String) -> String { Base64URL.encode(text.utf8) }
    let claims = part(#"{"sub":"dennis","exp":4102444800}"#)
    for header in [#"{"alg":"none"}"#, #"{"alg":"none","kid":"test"}"#, #"{"alg":"None"}"#] {
      for signature in ["", part("x")] {
        let token = "\(part(header)).\(claims).\(signature)"
        let answer = try ask(world, authorization: "Bearer \(token)")
        #expect(answer.status == 401)
        #expect(answer.header("www-authenticate")?.contains("invalid_token") == true)
      }
    }
  }

  @Test func `an expired, a foreign and a changed token are a 401`() throws {
    let world = try World()
    let expired = world.token("dennis", lifetime: .seconds(-61))
    let foreign = try World().token("dennis")
    let changed = world.token("dennis").dropLast(2) + "AA"
    for token in [expired, foreign, String(changed)] {
      #expect(try ask(world, authorization: "Bearer \(token)").status == 401)
    }
    #expect(try ask(world, authorization: "bearer \(world.token("dennis"))").status == 200)
  }

  @Test(
    arguments: [
      (["exp": 4_102_444_800], 401), (["exp": 4_102_444_800, "sub": ""], 401),
      (["exp": 4_102_444_800, "sub": "a\nb"], 401), (["sub": "dennis"], 401),
      (["exp": 4_102_444_800, "sub": 7], 401), (["exp": 4_102_444_800, "sub": "dennis"], 200),
    ] as [([String: JSONValue], Int)])
  func `a token needs exp and a sub that can be an id`(
    claims: [String: JSONValue], status: Int
  ) throws {
    let world = try World()
    let answer = try ask(world, authorization: "Bearer \(world.signed(.object(claims)))")
    #expect(answer.status == status)
  }

  @Test func `a token for another service is a 401 that says whose it must be`() throws {
    let world = try World(store: InMemoryStore(), audience: "lockstep")
    #expect(try world.get("/api/notifications", as: "dennis").status == 200)
    let token = world.signed(["sub": "dennis", "exp": 4_102_444_800, "aud": ["other"]])
    let answer = try ask(world, authorization: "Bearer \(token)")
    #expect(answer.status == 401)
    #expect(try answer.json()["detail"] == "The token's aud is \"other\"; want \"lockstep\".")
    #expect(answer.header("www-authenticate")?.contains("invalid_token") == true)
  }

  @Test func `a sub has at most 128 characters`() throws {
    let world = try World()
    for (length, status) in [(128, 200), (129, 401)] {
      let user = String(repeating: "u", count: length)
      #expect(try world.get("/api/notifications", as: user).status == status)
    }
  }

  @Test func `what a stranger wrote does not break the challenge`() throws {
    let world = try World()
    let header = Base64URL.encode(#"{"alg":"HS256","kid":"\"\r\nx: ä"}"#.utf8)
    let answer = try ask(world, authorization: "Bearer \(header).e30.AA")
    let challenge = try #require(answer.header("www-authenticate"))
    #expect(challenge.utf8.allSatisfy { (0x20...0x7E).contains($0) })
    #expect(challenge.filter { $0 == "\"" }.count == 6)
  }
}

extension AuthorizationTests {
  @Test(
    arguments: [
      (nil, 200), ("user", 200), ("user service", 200), ("service", 403), ("ops", 403), ("", 403),
      ("superuser", 403),
    ] as [(String?, Int)])
  func `a person's endpoints want scope user`(scope: String?, status: Int) throws {
    let answer = try World().ask("GET", "/api/notifications", as: "dennis", scope: scope)
    #expect(answer.status == status)
    if status == 403 {
      #expect(try answer.problem() == "insufficient-scope")
      #expect(answer.header("www-authenticate")?.contains("insufficient_scope") == true)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `whose id only looks like a participant's is a stranger`(kind: StoreKind) throws {
    let world = try World(kind)
    let path = try world.begin(with: "jos\u{E9}")
    let answers = #"{"answers":{"n":1}}"#
    #expect(try world.ask("POST", "\(path)/answers", as: "jos\u{E9}", text: answers).status == 200)
    #expect(try world.get(path, as: "jose\u{301}").status == 404)
    let theirs = try world.ask("POST", "\(path)/answers", as: "jose\u{301}", text: answers)
    #expect(theirs.status == 404)
    let seen = try world.ask("GET", path, as: "kitchen", scope: "service").json()["answers"]
    #expect(seen == ["jos\u{E9}": ["n": 1]])
  }

  @Test(arguments: ["proposals", "decision"])
  func `the kitchen's endpoints want scope service`(name: String) throws {
    let world = try World()
    let path = try world.begin()
    #expect(try world.post("\(path)/\(name)", as: "dennis", [:]).status == 403)
    #expect(try world.asKitchen("\(path)/\(name)", [:]).status == 422)
  }
}

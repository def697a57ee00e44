import HTTPServing
import Testing

@testable import HTTPAPI

@Suite struct RouterTests {
  @Test(arguments: [
    "/", "/api", "/api/nothing", "/api/me/more", "/api/webpush/nothing", "/api/fcm/nothing",
    "/api/activities/x/y", "/metrics", "/api/cook-suggest/sessions/a%2Fjoin/x/y",
  ])
  func `an unknown path is a 404 problem`(path: String) throws {
    let answer = try World().ask("GET", path, as: "dennis")
    #expect(answer.status == 404)
    #expect(try answer.problem() == "not-found")
  }

  @Test(arguments: [
    ("GET", "/api/me", "PUT"), ("DELETE", "/api/me", "PUT"), ("OPTIONS", "/api/me", "PUT"),
    ("PATCH", "/api/apns/register", "DELETE, POST"),
    ("POST", "/api/activities/x", "DELETE, GET, HEAD, PATCH, PUT"),
    ("PUT", "/api/cook-suggest/sessions", "POST"),
    ("POST", "/api/cook-suggest/sessions/cs_1", "GET, HEAD"),
    ("GET", "/api/cook-suggest/sessions/cs_1/join", "POST"),
    ("POST", "/api/notifications", "GET, HEAD"), ("BREW", "/api/notifications", "GET, HEAD"),
  ])
  func `a wrong method is a 405 with allow`(method: String, path: String, allow: String) throws {
    let answer = try World().ask(method, path, as: "dennis")
    #expect(answer.status == 405)
    #expect(answer.header("allow") == allow)
    #expect(try answer.problem() == "method-not-allowed")
  }

  @Test func `HEAD is answered as GET`() throws {
    let world = try World()
    let path = try world.begin()
    #expect(try world.ask("HEAD", path, as: "dennis").status == 200)
  }

  @Test func `an id beyond its limit names nothing`() throws {
    let world = try World()
    let id = String(repeating: "x", count: Router.parameterBytesMax + 1)
    #expect(try world.get("/api/cook-suggest/sessions/\(id)", as: "dennis").status == 404)
  }
}

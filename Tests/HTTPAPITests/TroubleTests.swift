import Foundation
import HTTPServing
import Pipeline
import Synchronization
import TestSupport
import ServiceRuntime
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct TroubleTests {
  private static let body: JSONValue = ["date": "2026-06-18"]

  @Test func `the rate of one user is limited`() throws {
    let world = try World(settings: APISettings(requestsPerSecond: 20, requestBurst: 60))
    for _ in 0..<60 { #expect(try world.get("/api/notifications", as: "dennis").status == 200) }
    let refused = try world.get("/api/notifications", as: "dennis")
    #expect(refused.status == 429)
    #expect(refused.header("retry-after") == "1")
    #expect(try refused.problem() == "too-many-requests")
    #expect(try world.get("/api/notifications", as: "jaqueline").status == 200)
    for _ in 0..<100 {
      let path = "\(World.sessions)/cs_x"
      #expect(try world.ask("GET", path, as: "dennis", scope: "service").status == 404)
    }
    world.time.advance(.milliseconds(51))
    #expect(try world.get("/api/notifications", as: "dennis").status == 200)
  }

  @Test func `a store that fails is a 503 with nothing half-done`() throws {
    let isBroken = Mutex(false)
    let world = try World(
      store: InMemoryStore(beforeCommit: {
        if isBroken.withLock({ $0 }) { throw StoreError("the disk is full") }
      }))
    let path = try world.begin()
    isBroken.withLock { $0 = true }
    let headers = ["idempotency-key": "k1"]
    for fields in [[:], headers] {
      let answer = try world.post("\(path)/ready", as: "dennis", ["ready": true], headers: fields)
      #expect(answer.status == 503)
      #expect(answer.header("retry-after") == "1")
      #expect(try answer.problem() == "store-unavailable")
      #expect(try !answer.detail().contains("disk"))
    }
    #expect(world.commitCount == 1)
    isBroken.withLock { $0 = false }
    #expect(try world.get(path, as: "dennis").json()["rev"] == 1)
    #expect(try world.events().count == 1)
    let again = try world.post("\(path)/ready", as: "dennis", ["ready": true], headers: headers)
    #expect(again.status == 200)
    #expect(again.header("idempotency-replayed") == nil)
  }

  @Test func `a fault of ours is a 500 that tells nothing`() throws {
    struct Fault: Error {}
    let world = try World(store: InMemoryStore(beforeCommit: { throw Fault() }))
    let answer = try world.post(World.sessions, as: "dennis", Self.body)
    #expect(answer.status == 500)
    #expect(try answer.problem() == "internal")
  }

  @Test func `a full outbox stops what makes events, and nothing else`() throws {
    let world = try World(store: InMemoryStore(), outbox: OutboxGate(limit: 2))
    let path = try world.begin()
    _ = try world.post("\(path)/join", as: "jaqueline")
    let refused = try world.post("\(path)/ready", as: "dennis", ["ready": true])
    #expect(refused.status == 503)
    #expect(refused.header("retry-after") != nil)
    #expect(try refused.problem() == "outbox-full")
    #expect(try world.get(path, as: "dennis").json()["rev"] == 2)
    #expect(try world.post("\(path)/join", as: "jaqueline").status == 200)
    let token: JSONValue = ["token": "abcd", "kind": "alert"]
    #expect(try world.post("/api/apns/register", as: "dennis", token).status == 200)
    world.outbox.update(depth: 1)
    #expect(try world.post("\(path)/ready", as: "dennis", ["ready": true]).status == 200)
  }

  @Test func `what was answered is counted by route and status`() throws {
    let world = try World()
    _ = try world.get(world.begin(), as: "dennis")
    _ = try world.get("\(World.sessions)/cs_x", as: "dennis")
    _ = try world.ask("BREW\"", "/x", as: "dennis")
    let text = world.metrics.text()
    let route = "/api/cook-suggest/sessions/{id}"
    #expect(text.contains(#"_total{method="GET",route="\#(route)",status="200"} 1"#))
    #expect(text.contains(#"_total{method="GET",route="\#(route)",status="404"} 1"#))
    #expect(text.contains(#"_total{method="other",route="none",status="404"} 1"#))
    #expect(text.contains(#"events_accepted_total{type="cooksuggest.session.created"} 1"#))
  }
}

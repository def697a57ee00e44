import Foundation
import HTTPServing
import Pipeline
import Synchronization
import TestSupport
import Testing
import Vocabulary

@testable import HTTPAPI

@Suite struct IdempotencyTests {
  private static let body: JSONValue = ["date": "2026-06-18", "with_user_id": "jaqueline"]

  private func create(
    _ world: World, key: String, _ body: JSONValue = body, as user: String = "dennis"
  ) throws -> HTTPResponse {
    try world.post(World.sessions, as: user, body, headers: ["idempotency-key": key])
  }

  @Test(arguments: StoreKind.allCases)
  func `the same request again gets the stored answer and has no second effect`(
    kind: StoreKind
  ) throws {
    let world = try World(kind)
    let first = try create(world, key: "k1")
    let second = try create(world, key: "k1")
    #expect(first.status == 201)
    #expect(first.header("idempotency-replayed") == nil)
    #expect(second.status == 201)
    #expect(second.header("idempotency-replayed") == "true")
    #expect(second.data == first.data)
    for name in ["location", "etag", "content-type"] {
      #expect(second.header(name) == first.header(name))
    }
    #expect(try world.events().count == 1)
    #expect(world.commitCount == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `another body under the same key is a 422`(kind: StoreKind) throws {
    let world = try World(kind)
    _ = try create(world, key: "k1")
    let other = try create(world, key: "k1", ["date": "2026-06-19"])
    #expect(other.status == 422)
    #expect(try other.problem() == "idempotency-key-reused")
    #expect(try create(world, key: "k1").status == 201)
  }

  @Test func `a key belongs to one caller and one path`() throws {
    let world = try World()
    let mine = try create(world, key: "k1")
    let theirs = try create(world, key: "k1", ["date": "2026-06-19"], as: "jaqueline")
    #expect(theirs.status == 201)
    let path = try #require(mine.header("location"))
    let joined = try world.post(
      "\(path)/join", as: "jaqueline", headers: ["idempotency-key": "k1"])
    #expect(joined.status == 200)
    #expect(joined.header("idempotency-replayed") == nil)
  }

  @Test(arguments: StoreKind.allCases)
  func `a key is new again after 24 hours`(kind: StoreKind) throws {
    let world = try World(kind)
    let first = try create(world, key: "k1")
    world.time.advance(.seconds(24 * 3600) - .milliseconds(1))
    #expect(try create(world, key: "k1").data == first.data)
    world.time.advance(.milliseconds(1))
    let later = try create(world, key: "k1", ["date": "2026-06-19"])
    #expect(later.status == 201)
    #expect(later.header("idempotency-replayed") == nil)
    #expect(try create(world, key: "k1", ["date": "2026-06-19"]).data == later.data)
  }

  @Test(arguments: [(1, 201), (255, 201), (0, 400), (256, 400)])
  func `a key has 1 to 255 characters`(length: Int, status: Int) throws {
    let key = String(repeating: "k", count: length)
    #expect(try create(World(), key: key).status == status)
  }

  @Test(arguments: ["a b", "ä", "a\tb"])
  func `a key is visible ASCII`(key: String) throws {
    #expect(try create(World(), key: key).status == 400)
  }

  @Test(arguments: StoreKind.allCases)
  func `a refusal is stored too, and changes nothing`(kind: StoreKind) throws {
    let world = try World(kind)
    let path = try world.begin()
    func pick() throws -> HTTPResponse {
      try world.post(
        "\(path)/pick", as: "dennis", ["proposal_id": "p1"], headers: ["idempotency-key": "k"])
    }
    let refused = try pick()
    #expect(refused.status == 409)
    try world.propose(path)
    let again = try pick()
    #expect(again.status == 409)
    #expect(again.header("idempotency-replayed") == "true")
    #expect(again.data == refused.data)
    let invalid = try create(world, key: "k2", [:])
    #expect(invalid.status == 422)
    #expect(try create(world, key: "k2", [:]).header("idempotency-replayed") == "true")
    #expect(try create(world, key: "k2").status == 422)
  }

  @Test func `a refusal does not take the place of what another API did meanwhile`() throws {
    let store = BetweenWrites(InMemoryStore())
    let (world, other) = (try World(store: store), try World(store: store))
    let path = try world.begin()
    @Sendable func pick(_ world: World) throws -> HTTPResponse {
      try world.post(
        "\(path)/pick", as: "dennis", ["proposal_id": "p1"], headers: ["idempotency-key": "k"])
    }
    // Refused here for the session's state; before that is stored the same request comes there.
    store.beforeWrite(2) {
      try other.propose(path)
      #expect(try pick(other).status == 200)
    }
    let answer = try pick(world)
    #expect(answer.status == 200)
    #expect(answer.header("idempotency-replayed") == "true")
    #expect(try pick(other).status == 200)
  }

  @Test func `429 and 5xx are not stored`() throws {
    let world = try World(
      settings: APISettings(
        liveSessionsPerUserMax: 1, requestsPerSecond: 10_000, requestBurst: 10_000))
    let path = try world.begin(with: nil)
    #expect(try create(world, key: "k1").status == 429)
    _ = try world.post("\(path)/cancel", as: "dennis")
    #expect(try create(world, key: "k1").status == 201)

    let full = try World(store: InMemoryStore(), outbox: OutboxGate(limit: 1))
    full.outbox.update(depth: 1)
    #expect(try create(full, key: "k1").status == 503)
    full.outbox.update(depth: 0)
    #expect(try create(full, key: "k1").status == 201)
  }

  @Test func `while the first is being worked on the second is a 409`() throws {
    let entered = DispatchSemaphore(value: 0)
    let proceed = DispatchSemaphore(value: 0)
    let isFirst = Mutex(true)
    let world = try World(
      store: InMemoryStore(beforeCommit: {
        guard
          isFirst.withLock({ first in
            defer { first = false }; return first
          })
        else { return }
        entered.signal()
        _ = proceed.wait(timeout: .now() + 10)
      }))
    let first = Mutex<Int?>(nil)
    let done = DispatchSemaphore(value: 0)
    let token = world.token("dennis")
    Thread.detachNewThread {
      // A thread has nobody to throw to; without an answer the status stays nil.
      let answer = try? world.ask(
        "POST", World.sessions, Self.body,
        headers: ["idempotency-key": "k1", "authorization": "Bearer \(token)"])
      first.withLock { $0 = answer?.status }
      done.signal()
    }
    try #require(entered.wait(timeout: .now() + 10) == .success)
    let second = try create(world, key: "k1")
    #expect(second.status == 409)
    #expect(try second.problem() == "idempotency-key-in-progress")
    proceed.signal()
    try #require(done.wait(timeout: .now() + 10) == .success)
    #expect(first.withLock { $0 } == 201)
    #expect(try create(world, key: "k1").header("idempotency-replayed") == "true")
    #expect(try world.events().count == 1)
  }

  @Test(arguments: StoreKind.allCases)
  func `many at once have one effect`(kind: StoreKind) throws {
    let world = try World(kind)
    let statuses = Mutex<[Int: Int]>([:])
    DispatchQueue.concurrentPerform(iterations: 16) { _ in
      // Nobody to throw to here either; 0 is no status that is expected below.
      let status = (try? create(world, key: "k1"))?.status ?? 0
      statuses.withLock { $0[status, default: 0] += 1 }
    }
    let seen = statuses.withLock { $0 }
    #expect(Set(seen.keys).isSubset(of: [201, 409]))
    #expect(seen[201, default: 0] >= 1)
    #expect(try world.events().count == 1)
  }
}

/// A store that lets others in before one of its writes.
private final class BetweenWrites: Store {
  private struct Plan: Sendable {
    var writesLeft: Int
    let work: @Sendable () throws -> Void
  }

  private let inner: any Store
  private let plan = Mutex<Plan?>(nil)

  init(_ inner: any Store) { self.inner = inner }

  /// `count`: 1 is the next write.
  func beforeWrite(_ count: Int, _ work: @escaping @Sendable () throws -> Void) {
    plan.withLock { $0 = Plan(writesLeft: count, work: work) }
  }

  func read<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    try inner.read(body)
  }

  func write<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    let work = plan.withLock { plan -> (@Sendable () throws -> Void)? in
      plan?.writesLeft -= 1
      guard let due = plan, due.writesLeft == 0 else { return nil }
      plan = nil
      return due.work
    }
    try work?()
    return try inner.write(body)
  }
}

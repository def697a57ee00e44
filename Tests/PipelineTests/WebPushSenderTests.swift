import Cryptography
import Foundation
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct WebPushSenderTests {
  @Test func `a job reaches its browser, signed with the subscription's own key`() throws {
    let rig = try WebPushRig()
    let old = try #require(
      rig.keys[id: rig.keys.first.id].map { _ in rig.keys.first })
    let subscription = try rig.subscribe()
    #expect(try rig.push(rig.job(subscription)) == [.done])
    let request = try #require(rig.carrier.requests.first)
    #expect(request.endpoint == subscription.endpoint)
    #expect(request.authorization.hasSuffix("k=\(old.id)"))
    #expect(request.ttl == 7200)
    #expect(request.topic == WebPushTopic.of(WebPushRig.dedupeKey))
    #expect(!request.liftsAddressRule)
    let json = try rig.read(request)
    #expect(json["notification"]?["title"] == "Plan dinner with Dennis")
    let record = try #require(try rig.records().first)
    #expect(record.event == "webpush")
    #expect(record.status == 201)
    #expect(record.tokenFingerprint == subscription.fingerprint)
    #expect(rig.counted("accepted"))
  }

  @Test func `a key that the file lost is named, and nothing is sent`() throws {
    let rig = try WebPushRig()
    let subscription = try rig.subscribe(keyID: "lost")
    guard case .dead(let reason)? = try rig.push(rig.job(subscription)).first else {
      Issue.record("not dead")
      return
    }
    #expect(reason.contains("VAPID key lost"))
    #expect(rig.carrier.requests.isEmpty)
  }

  @Test func `a job that was taken is not sent again`() throws {
    let rig = try WebPushRig()
    let job = try rig.job(rig.subscribe())
    #expect(try rig.push(job, job) == [.done, .superseded(because: "delivered already")])
    #expect(try rig.push(job) == [.superseded(because: "delivered already")])
    #expect(rig.carrier.requests.count == 1)
  }

  @Test func `a job that may have been taken is replaced by its topic`() throws {
    let rig = try WebPushRig()
    let job = try rig.job(rig.subscribe())
    rig.carrier.answer = { _ in .unanswered(because: "timeout") }
    #expect(try rig.push(job) == [.retry(notBefore: .seconds(5), because: "timeout")])
    rig.answer(201)
    #expect(try rig.push(job) == [.done])
    #expect(Set(rig.carrier.requests.map(\.topic)).count == 1)
    #expect(Set(rig.carrier.requests.map(\.body)).count == 2)
    #expect(try rig.records().map(\.status) == [nil, 201])
  }

  @Test func `what has no reason any more is not sent`() throws {
    let rig = try WebPushRig()
    let subscription = try rig.subscribe()
    let gone = try rig.subscribe(2)
    _ = try rig.store.write { try $0.unsubscribe(gone.endpoint, of: rig.owner) }
    #expect(
      try rig.push(rig.job(gone)) == [.superseded(because: "the subscription is gone")])
    #expect(
      try rig.push(rig.job(subscription, user: UserID("u_dennis")))
        == [.superseded(because: "the subscription is gone")])
    #expect(try rig.push(rig.job(subscription, deadlineIn: .zero)) == [.expired])
    try rig.store.write { rows in
      _ = try rows.insert(
        Pipeline.Notification(
          id: "n", userID: rig.owner, type: "t", title: "t", body: "b", icon: "i", link: "/",
          dedupeKey: WebPushRig.dedupeKey, createdAt: rig.time.now(), updatedAt: rig.time.now()))
      _ = try rows.resolve(
        dedupeKey: WebPushRig.dedupeKey, because: "cancelled", at: rig.time.now())
    }
    #expect(
      try rig.push(rig.job(subscription))
        == [.superseded(because: "the notification is resolved")])
    #expect(rig.carrier.requests.isEmpty)
  }

  @Test func `a host that left the list gets nothing`() throws {
    let rig = try WebPushRig()
    let subscription = try rig.subscribe(host: "evil.example")
    guard case .dead(let reason)? = try rig.push(rig.job(subscription)).first else {
      Issue.record("not dead")
      return
    }
    #expect(reason.contains("evil.example"))
    #expect(rig.carrier.requests.isEmpty)
  }

  @Test(arguments: [(7200, 7200), (61, 61), (60, 60), (59, 60), (1, 60)])
  func `F-2 the TTL is what is left of the session, and at least a minute`(
    left: Int, ttl: Int64
  ) throws {
    let rig = try WebPushRig()
    _ = try rig.push(rig.job(rig.subscribe(), deadlineIn: .seconds(left)))
    #expect(rig.carrier.requests.map(\.ttl) == [ttl])
  }

  @Test func `a shorter TTL of the service is recorded`() throws {
    let rig = try WebPushRig()
    rig.answer(WebPushAnswer(status: 201, ttl: 60))
    _ = try rig.push(rig.job(rig.subscribe()))
    #expect(try rig.records().first?.reason == "kept 60 s instead of 7200 s")
  }

  @Test(arguments: [404, 410])
  func `F-5 a subscription that is gone is pruned`(status: Int) throws {
    let rig = try WebPushRig()
    let subscription = try rig.subscribe()
    rig.answer(status)
    #expect(try rig.push(rig.job(subscription)) == [.done])
    #expect(try !rig.isThere(subscription))
    #expect(rig.counted("pruned"))
  }

  @Test func `a late 410 leaves the browser that subscribed anew`() throws {
    let rig = try WebPushRig()
    let subscription = try rig.subscribe()
    var anew: WebPushSubscription?
    rig.carrier.answer = { _ in
      // While the push is under way.
      anew = try? rig.subscribe()
      return .answered(WebPushAnswer(status: 410))
    }
    #expect(try rig.push(rig.job(subscription)) == [.done])
    #expect(try rig.isThere(try #require(anew)))
  }

  @Test func `a host that forgets all its subscriptions at once trips the guard`() throws {
    let rig = try WebPushRig()
    rig.answer(404)
    let all = try (1...25).map { try rig.subscribe($0) }
    let dispositions = try all.flatMap { try rig.push(rig.job($0)) }
    #expect(dispositions.prefix(19).allSatisfy { $0 == .done })
    #expect(
      dispositions.dropFirst(19).allSatisfy {
        if case .retry(.seconds(600), _) = $0 { true } else { false }
      })
    for subscription in all { #expect(try rig.isThere(subscription)) }
    // Another host's are pruned meanwhile.
    let other = try rig.subscribe(1, host: "web.push.apple.com")
    #expect(try rig.push(rig.job(other)) == [.done])
    #expect(try !rig.isThere(other))
  }

  @Test(arguments: [400, 401, 403])
  func `refusals prune nothing, however many`(status: Int) throws {
    let rig = try WebPushRig()
    rig.answer(status, "BadJwtToken")
    let all = try (1...30).map { try rig.subscribe($0) }
    for subscription in all { _ = try rig.push(rig.job(subscription)) }
    for subscription in all { #expect(try rig.isThere(subscription)) }
  }

  @Test func `F-2 another key's subscription is marked, and gets nothing more`() throws {
    let rig = try WebPushRig()
    let subscription = try rig.subscribe()
    rig.answer(400, "VapidPkHashMismatch")
    #expect(try rig.push(rig.job(subscription)) == [.done])
    #expect(try !rig.isThere(subscription))
    #expect(rig.counted("resubscribe"))
    #expect(try rig.store.write { try $0.save(subscription) }.resubscribeSince == rig.time.now())
  }

  @Test func `a refused token that is old is renewed once, at once`() throws {
    let rig = try WebPushRig()
    let subscription = try rig.subscribe()
    _ = try rig.push(rig.job(subscription, key: "first"))
    rig.time.advance(by: .seconds(3600))
    rig.answer(WebPushAnswer(status: 403), WebPushAnswer(status: 201))
    #expect(try rig.push(rig.job(subscription)) == [.done])
    let tokens = rig.carrier.requests.map(\.authorization)
    #expect(tokens.count == 3)
    #expect(tokens[0] == tokens[1])
    #expect(tokens[1] != tokens[2])
  }

  @Test func `a refused token that is young is not made again`() throws {
    let rig = try WebPushRig()
    rig.answer(401, "109")
    #expect(
      try rig.push(rig.job(rig.subscribe()))
        == [.retry(notBefore: .seconds(600), because: "401 109")])
    #expect(rig.carrier.requests.count == 1)
  }

  @Test func `what is too large goes out once more in its short form`() throws {
    let rig = try WebPushRig()
    let subscription = try rig.subscribe()
    rig.answer(WebPushAnswer(status: 413), WebPushAnswer(status: 201))
    #expect(try rig.push(rig.job(subscription)) == [.done])
    #expect(rig.carrier.requests.count == 2)
    let short = try rig.read(rig.carrier.requests[1])
    #expect(short["notification"]?["body"] == nil)
    #expect(short["notification"]?["navigate"] == "https://app.example/cook-suggest/cs_1")
    rig.answer(413)
    #expect(
      try rig.push(rig.job(subscription, key: "other"))
        == [.dead(because: "413 without a reason")])
    #expect(rig.carrier.requests.count == 4)
  }

  @Test func `a plaintext of 3994 octets never leaves`() throws {
    let rig = try WebPushRig()
    let subscription = try rig.subscribe()
    let fits = Data(("{" + String(repeating: " ", count: 3991) + "}").utf8)
    let tooLong = Data(("{" + String(repeating: " ", count: 3992) + "}").utf8)
    #expect(try rig.push(rig.job(subscription, key: "a", payload: fits)) == [.done])
    #expect(rig.carrier.requests.map(\.body.count) == [4096])
    guard
      case .dead(let reason)? = try rig.push(rig.job(subscription, key: "b", payload: tooLong))
        .first
    else {
      Issue.record("not dead")
      return
    }
    #expect(reason == "the payload has 3994 octets, want at most 3993")
    #expect(rig.carrier.requests.count == 1)
  }

  @Test func `Retry-After and server faults wait on the ladder`() throws {
    let rig = try WebPushRig()
    let subscription = try rig.subscribe()
    rig.answer(WebPushAnswer(status: 429, retryAfter: .seconds(90)))
    #expect(
      try rig.push(rig.job(subscription))
        == [.retry(notBefore: .seconds(90), because: "429 without a reason")])
    rig.answer(503, "busy")
    #expect(
      try rig.push(rig.job(subscription))
        == [.retry(notBefore: .seconds(30), because: "503 busy")])
    rig.answer(301)
    #expect(
      try rig.push(rig.job(subscription))
        == [.dead(because: "301 without a reason; redirects are not followed")])
  }

  @Test func `F-3 a thousand pushes carry one token per origin`() throws {
    let rig = try WebPushRig()
    let hosts = ["web.push.apple.com", "fcm.googleapis.com"]
    rig.carrier.inFlightMax = 1000
    for number in 1...500 {
      for host in hosts {
        _ = try rig.push(rig.job(rig.subscribe(number, host: host), key: "\(number)"))
      }
    }
    let requests = rig.carrier.requests
    #expect(requests.count == 1000)
    let tokens = Dictionary(grouping: requests, by: \.endpoint.origin)
      .mapValues { Set($0.map(\.authorization)) }
    #expect(tokens.count == 2)
    #expect(tokens.values.allSatisfy { $0.count == 1 })
    #expect(Set(tokens.values.flatMap(\.self)).count == 2)
  }

  @Test func `an unreadable job is dead at once`() throws {
    let rig = try WebPushRig()
    var delivery = rig.delivery(try rig.job(rig.subscribe()))
    var message = delivery.message
    message.headers["x-subscription"] = nil
    delivery = Samples.delivery(message, 9, exchange: "webpush", routingKey: "webpush")
    #expect(
      try rig.sender.take([delivery]).map(\.disposition)
        == [.dead(because: "header x-subscription is missing")])
  }
}

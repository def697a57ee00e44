import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  /// The broker dies with messages in every rung of all stages.
  @Suite struct EveryRungTests {
    private static let stages = StageName.allCases
    private static let guests = ["jaqueline", "mara", "noor"]
    /// In each of two parts; every rung's every queue gets one. A phone takes ten starts at once.
    private static let sessions = 12

    private let node: PrivateBroker
    private let installation: Installation
    private let routes: Routes

    init() throws {
      node = try PrivateBroker { directory in
        try Data("collect_statistics_interval = 500\n".utf8)
          .write(to: directory.appending(path: "extra.conf"))
      }
      installation = try Installation(
        broker: BrokerUnderTest(url: node.url, managementURL: node.managementURL))
      // Long enough to look before the broker is killed.
      try installation.useShortRungs("9s, 10s, 11s, 12s")
      try installation.offerSimulatedWebPush()
      try installation.offerFCM()
      try installation.applyTopology()
      routes = try Topology(file: #require(installation.settings["LOCKSTEP_QUEUES_FILE"])).routes
    }

    @Test func `All come back after a restart of the broker and are treated once`() throws {
      for role in [Role.simulator, .api, .payloadBuilder, .notifier] {
        try installation.start(role)
      }
      for user in Self.guests {
        try installation.phones.add(user)
        try installation.phones.addBrowser(user)
        try installation.androids.add(user, id: "android-\(user)")
      }
      // What the first part causes waits for the senders, the second part for everybody.
      try open(Self.sessions)
      try awaitDepths([
        "apns": Self.sessions * 2, "webpush": Self.sessions, "fcm": Self.sessions,
      ])
      for role in [Role.payloadBuilder, .notifier] { try installation.end(role) }
      try open(Self.sessions)
      try awaitDepths(["build": Self.sessions, "notify": Self.sessions])
      for stage in Self.stages { try putOnRungs(stage) }
      try installation.wait(for: "a message in every rung") {
        let waiting = try installation.waitingMessages()
        return rungQueues.allSatisfy { waiting[$0] ?? 0 > 0 }
      }
      try installation.awaitKeptTopology()
      try node.kill()
      try node.start()

      for role in Role.separate + [.webPushSender, .fcmSender] where role != .api {
        try installation.start(role)
      }
      // Of each guest the iPhone's and the Android phone's.
      try installation.phones.awaitTruth(cards: Self.sessions * 4)
      try expectEachOnce()
    }

    /// Every queue that a failed message may wait in; their exchanges have the same names.
    private var rungQueues: [String] {
      Self.stages.flatMap { routes[$0].ladder.rungs.flatMap(\.exchanges) }
    }

    private func open(_ count: Int) throws {
      for number in 0..<count {
        _ = try installation.ask(
          "dennis-\(number)", "POST", "/api/cook-suggest/sessions",
          ["date": "2030-01-31", "with_user_id": .string(Self.guests[number % 3])])
      }
    }

    private func awaitDepths(_ wanted: [String: Int]) throws {
      try installation.wait(for: "\(wanted)") {
        let waiting = try installation.waitingMessages()
        return wanted.allSatisfy { waiting[$0.key] == $0.value }
      }
    }

    /// As a worker does whose attempts fail: a copy to the rung, confirmed, then the original is
    /// acknowledged.
    private func putOnRungs(_ stage: StageName) throws {
      let route = routes[stage]
      let address = try BrokerAddress(url: installation.broker.url)
      let link = RabbitMQLink(
        address, queue: route.queue, prefetch: 100, name: "rungs", time: SystemTime(),
        log: .discarding)
      let publisher = RabbitMQPublisher(
        address, name: "rungs", time: SystemTime(), log: .discarding)
      defer {
        link.close()
        publisher.close()
      }
      try link.open()
      try publisher.open()
      var moved = 0
      let count = try #require(installation.waitingMessages()[route.queue])
      try installation.wait(for: "\(count) messages of \(stage.rawValue)") {
        let deliveries = try link.receive(atMost: 100)
        let copies = deliveries.enumerated().map { place, delivery in
          copy(of: delivery, number: moved + place, route)
        }
        #expect(try publisher.publish(copies).allSatisfy { $0 == .confirmed })
        try link.acknowledge(deliveries.map(\.tag))
        moved += deliveries.count
        return moved >= count
      }
    }

    private func copy(of delivery: Delivery, number: Int, _ route: StageRoute) -> OutgoingMessage {
      let rungs = route.ladder.rungs
      var message = delivery.message
      let attempts = number / rungs[0].exchanges.count % rungs.count
      message.headers["x-attempt"] = .integer(Int64(attempts))
      let failed = Delivery(
        tag: delivery.tag, message: message, exchange: delivery.exchange,
        routingKey: delivery.routingKey, redelivered: false)
      return route.retryCopy(
        of: failed, notBefore: .zero, because: "for a test", now: SystemTime().now(),
        spread: number)
    }

    private func expectEachOnce() throws {
      let each = Self.sessions * 2
      var all = try accepted()
      try installation.wait(for: "\(each) starts, alerts, Web Pushes and messages by FCM") {
        all = try accepted()
        guard all.allSatisfy({ $0.count >= each }) else {
          throw Unexpected("there are \(all.map(\.count))")
        }
        return true
      }
      // A second one would come with the last of what waits.
      try installation.wait(for: "every queue to be empty") {
        try installation.waitingMessages().isEmpty
      }
      all = try accepted()
      #expect(all.map(\.count) == [each, each, each, each])
      for place in [0, 1, 3] { #expect(Set(all[place]).count == each) }
    }

    /// Starts, alerts, Web Pushes, and messages by FCM.
    private func accepted() throws -> [[String]] {
      let pushes = try installation.phones.allPushes()
      return [
        ids(pushes) { $0["push_type"] == "liveactivity" && $0["event"] == "start" },
        ids(pushes) { $0["push_type"] == "alert" }, ids(pushes) { $0["push_type"] == "web-push" },
        ids(pushes) { $0["push_type"] == "fcm" },
      ]
    }

    /// The `apns-id`s of those that were accepted, for FCM what names the card, and nothing for
    /// each Web Push.
    private func ids(_ pushes: [JSONValue], _ isMeant: (JSONValue) -> Bool) -> [String] {
      pushes.filter { [200, 201].contains($0["status"]?.whole) && isMeant($0) }
        .map {
          $0["apns_id"]?.text ?? ($0["push_type"] == "fcm" ? $0["collapse_id"]?.text : "") ?? ""
        }
    }
  }
}

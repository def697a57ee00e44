import Foundation
import Pipeline
import Pushes
import Sessions
import Vocabulary

/// The people, phones and queues that tests speak of.
package enum Samples {
  /// 2026-06-18T12:00:00Z, where every story begins.
  package static let noon = UnixTime(seconds: 1_781_784_000)

  package static let dennis = Profile(
    userID: UserID("u_dennis"), name: "Dennis", tint: "#FFAA00", emoji: "🍳", locale: "de-DE")
  package static let mara = Profile(
    userID: UserID("u_mara"), name: "Mara", tint: "#00AAFF", emoji: "🥦", locale: "en-GB")

  package static let bundle = "app.example.cook"

  /// A token of 160 digits, as those of Live Activities are; another one for each number.
  package static func token(_ number: Int) -> PushToken {
    let digits = String(number, radix: 16)
    let hex = String(repeating: "0", count: 160 - digits.count) + digits
    do {
      return try PushToken(hex: hex)
    } catch {
      preconditionFailure("\(hex) \(error)")
    }
  }

  package static func registration(
    _ token: PushToken, of user: UserID, _ kind: TokenKind, context: ContextKey? = nil,
    device: String? = nil, at moment: UnixTime = noon, provenAt: UnixTime? = nil
  ) -> Registration {
    Registration(
      userID: user, token: token, kind: kind, contextKey: context, deviceID: device,
      registeredAt: moment, provenAt: provenAt)
  }

  package static func delivery(
    _ message: Message, _ number: UInt64 = 1, generation: Int = 1, exchange: String = "events",
    routingKey: String? = nil
  ) -> Delivery {
    Delivery(
      tag: DeliveryTag(generation: generation, number: number), message: message,
      exchange: exchange, routingKey: routingKey ?? message.type, redelivered: false)
  }

  // MARK: Queues

  /// The stages as queues.yaml lays them out, with short ladders.
  package static let routes = Routes(
    eventsExchange: "events",
    stages: [
      .build: route(.build, prefetch: 100), .apns: route(.apns, prefetch: 50),
      .notify: route(.notify, prefetch: 50), .webpush: route(.webpush, prefetch: 50),
      .fcm: route(.fcm, prefetch: 50),
    ])

  /// Which events each stage's queue takes.
  package static let bindings: [StageName: [String]] = [
    .build: ["cooksuggest.session.*", "activity.*", "token.registered"],
    .notify: ["created", "joined", "decided", "cancelled"].map { "cooksuggest.session.\($0)" },
  ]

  private static func route(_ stage: StageName, prefetch: Int) -> StageRoute {
    StageRoute(
      stage: stage, queue: stage.rawValue, exchange: stage.rawValue, routingKey: stage.rawValue,
      prefetch: prefetch, ladder: ladder(stage.rawValue), deadExchange: "dead",
      deadRoutingKey: stage.rawValue)
  }

  private static func ladder(_ stage: String) -> RetryLadder {
    let waits: [(String, Duration)] = [
      ("5s", .seconds(5)), ("30s", .seconds(30)), ("2m", .seconds(120)), ("15m", .seconds(900)),
    ]
    do {
      return try RetryLadder(
        rungs: waits.map { name, wait in
          let exchange = "retry.\(stage).\(name)"
          return .init(name: name, wait: wait, exchanges: [exchange, "\(exchange)-b"])
        })
    } catch {
      preconditionFailure("\(error)")
    }
  }
}

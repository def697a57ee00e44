import APNsTransport
import Cryptography
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Vocabulary

/// What is pushed: Live Activity updates of some 700 bytes, each to a token of its own.
enum Pushing {
  static let bundle = "app.example.cook"
  static let topic = bundle + ".push-type.liveactivity"
  /// As many as `h2load` and the peers have open on each connection.
  static let streams = 250
  static let connections = 2

  static func payload() throws -> Data {
    let names = ["Dennis", "Mara", "Noor", "Jonas"]
    let people: [JSONValue] = names.map {
      ["name": .string($0), "emoji": "🍳", "tint": "#FFAA00", "status": "ready", "ready": true]
    }
    let state: JSONValue = [
      "phase": "proposed", "rev": 7, "label": "3 Vorschläge bereit", "step": "proposals",
      "participants": .array(people), "date": "2026-06-18", "sessionId": "cs_bench",
      "updatedAt": "2026-06-18T19:12:03.123Z", "link": "https://app.example/cook/cs_bench",
    ]
    return try LiveActivityPayload(
      event: .update, contentState: state, staleAt: UnixTime(seconds: 1_781_800_000)
    ).encoded()
  }

  /// 160 digits, in no order.
  static func token(_ number: Int) throws -> PushToken {
    let digits = (0..<3).map { Digest.sha256("\(number) \($0)").hex }.joined()
    return try PushToken(hex: String(digits.prefix(160)))
  }

  /// As real ones are: in no order.
  static func apnsID(_ number: Int) -> String { UUIDText.named(["bench", String(number)]) }

  static func transport(
    to server: Server, metrics: Metrics,
    _ change: (inout APNsTransportSettings) -> Void = { _ in }
  ) throws -> APNsTransport {
    var settings = APNsTransportSettings(
      servers: [.production: server.url, .sandbox: server.url],
      authorityFile: server.authorityFile)
    settings.connectionsPerEnvironment = connections
    settings.streamsMax = streams
    change(&settings)
    let tokens = ProviderTokens(
      signer: ProviderTokenSigner(keyID: "ABC1234567") { _ in String(repeating: "j", count: 180) },
      time: SystemTime(), log: .discarding, metrics: metrics)
    return try APNsTransport(
      settings: settings, tokens: tokens, time: SystemTime(), log: .discarding, metrics: metrics)
  }
}

/// Our transport alone, fed as fast as it takes.
enum TransportBench {
  static func run(_ server: Server, pushes: Int) throws {
    let transport = try Pushing.transport(to: server, metrics: Metrics())
    defer { transport.close() }
    let body = LiveActivityPayload.stamped(try Pushing.payload(), at: SystemTime().now())
    let tokens = try (0..<1000).map(Pushing.token)
    let ids = (0..<1000 + pushes).map(Pushing.apnsID)
    // The first pushes warm the connections up; they are not measured.
    try push(0..<1000, ids, through: transport, tokens, body)
    let meter = Meter()
    try push(1000..<1000 + pushes, ids, through: transport, tokens, body)
    meter.reading().report("transport", pushes: pushes)
  }

  struct Refused: Error, CustomStringConvertible {
    let description: String
  }

  private static func push(
    _ numbers: Range<Int>, _ ids: [String], through transport: APNsTransport,
    _ tokens: [PushToken], _ body: Data
  ) throws {
    var next = numbers.lowerBound
    var done = 0
    while done < numbers.count {
      var room = transport.capacity
      while room > 0, next < numbers.upperBound {
        transport.send(
          PushRequest(
            number: UInt64(next), token: tokens[next % tokens.count], environment: .production,
            topic: Pushing.topic, pushType: "liveactivity", priority: 5, expiration: 1_781_800_000,
            collapseID: nil, apnsID: ids[next], body: body, isProven: true))
        next += 1
        room -= 1
      }
      for result in transport.advance() {
        guard case .answered(let answer) = result.outcome, answer.status == 200 else {
          throw Refused(description: "push \(result.number): \(result.outcome)")
        }
        done += 1
      }
      if done < numbers.count { Poll.wait(transport.descriptors, atMost: .milliseconds(100)) }
    }
  }
}

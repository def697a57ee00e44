import Cryptography
import Foundation
import RabbitMQBroker
import ServiceRuntime
import Vocabulary

/// Plays a co-op session against running servers: two people with phones, and a kitchen. What
/// `deploy/demo` starts last.
enum Demo {
  static let usage = """
    lockstep-demo play --api URL --simulator URL [--once] [--ttl] [--pace SECONDS]
      reads LOCKSTEP_AMQP_URL, LOCKSTEP_QUEUES_FILE and LOCKSTEP_AUTH_KEYS_FILE
    lockstep-demo keys DIRECTORY [FCM-PORT]
      writes auth-keys.json and AuthKey_DEMO123456.p8, made now, and with the port of a stand-in for
      FCM on this machine a service account for it, service-account.json
    lockstep-demo free-ports COUNT
      prints ports of 127.0.0.1 that nobody listens on
    """

  static func run(_ words: [String], environment: [String: String]) -> ExitCode {
    do {
      switch (words.first, words.count) {
      case ("keys", 2):
        try DemoKeys.write(into: words[1])
        return .ok
      case ("keys", 3):
        guard let port = UInt16(words[2]) else { throw CommandFailure(.usage, usage) }
        try DemoKeys.write(into: words[1])
        try DemoKeys.writeServiceAccount(into: words[1], fcmPort: port)
        return .ok
      case ("free-ports", 2):
        try FreePorts.print(words[1])
        return .ok
      case ("play", _):
        let settings = try DemoSettings(Array(words.dropFirst()), environment: environment)
        return try play(settings) ? .ok : .software
      default: throw CommandFailure(.usage, usage)
      }
    } catch {
      StandardStream.error.write("lockstep-demo: \(error)\n")
      return (error as? CommandFailure)?.code ?? .software
    }
  }

  private static func play(_ settings: DemoSettings) throws -> Bool {
    let stop = StopSignal()
    stop.raiseOnTermination()
    let times = MutationTimes()
    let kitchen = Kitchen(settings: settings, times: times, stop: stop)
    let thread = OwnedThread.start(named: "kitchen") { kitchen.run() }
    let story = Story(settings: settings, times: times, stop: stop)
    var isTrue = try story.play()
    while !settings.once, !stop.isRaised {
      print("\nThe page is at \(settings.simulatorURL)/ — Enter plays once more, Ctrl-C ends.")
      // Seen as soon where the output is a file or a pipe.
      fflush(nil)
      if readLineOrStop(stop) {
        isTrue = try story.play() && isTrue
      } else {
        // The input has ended, as in the background: the page stays.
        while !stop.isRaised { stop.wait(atMost: .seconds(60)) }
      }
    }
    stop.raise()
    while !thread.hasEnded { Poll.wait([], atMost: .milliseconds(20)) }
    return isTrue
  }

  /// - Returns: false when the input has ended or the demo should.
  private static func readLineOrStop(_ stop: StopSignal) -> Bool {
    let input = FileHandle.standardInput.fileDescriptor
    while !stop.isRaised, !Poll.isReadable(input) {
      Poll.wait(
        [(input, Poll.readable), (stop.descriptor, Poll.readable)], atMost: .seconds(60))
    }
    return !stop.isRaised && readLine() != nil
  }
}

struct DemoSettings: Sendable {
  var apiURL = ""
  var simulatorURL = ""
  var once = false
  /// Lets the session die instead of coming to a decision.
  var expires = false
  /// Between two steps, so that a person can follow.
  var pace = Duration.zero
  let keys: JSONWebKeySet
  let topology: Topology
  let broker: BrokerAddress

  init(_ words: [String], environment: [String: String]) throws {
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "--once": once = true
      case "--ttl": expires = true
      case "--api": apiURL = try Self.value(of: word, &rest)
      case "--simulator": simulatorURL = try Self.value(of: word, &rest)
      case "--pace":
        guard let seconds = Double(try Self.value(of: word, &rest)), (0...60).contains(seconds)
        else { throw CommandFailure(.usage, "--pace wants seconds from 0 to 60") }
        pace = .seconds(seconds)
      default: throw CommandFailure(.usage, "no flag \(word)\n\(Demo.usage)")
      }
    }
    guard !apiURL.isEmpty, !simulatorURL.isEmpty else {
      throw CommandFailure(.usage, Demo.usage)
    }
    func variable(_ name: String) throws -> String {
      guard let value = environment[name], !value.isEmpty else {
        throw CommandFailure(.configuration, "\(name) is not set")
      }
      return value
    }
    broker = try BrokerAddress(url: variable("LOCKSTEP_AMQP_URL"))
    topology = try Topology(file: variable("LOCKSTEP_QUEUES_FILE"))
    let keyFile = try variable("LOCKSTEP_AUTH_KEYS_FILE")
    var keys = try JSONWebKeySet(parsing: Data(contentsOf: URL(fileURLWithPath: keyFile)))
    keys.issuer = try? variable("LOCKSTEP_AUTH_ISSUER")
    keys.audience = try? variable("LOCKSTEP_AUTH_AUDIENCE")
    self.keys = keys
  }

  private static func value(of flag: String, _ rest: inout ArraySlice<String>) throws -> String {
    guard let value = rest.popFirst() else { throw CommandFailure(.usage, "\(flag) wants a value") }
    return value
  }

  /// A caller's token, good for an hour.
  func token(user: String, scope: String = "user", now: UnixTime) throws -> String {
    let claims: JSONValue = [
      "sub": .string(user), "scope": .string(scope), "iat": .integer(now.seconds),
      "exp": .integer(now.seconds + 3600),
    ]
    guard let token = keys.sign(claims: claims) else {
      throw CommandFailure(.configuration, "the key file holds no oct key")
    }
    return token
  }
}

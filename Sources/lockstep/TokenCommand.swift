import Cryptography
import Foundation
import Pipeline
import ServiceRuntime
import Vocabulary

/// `lockstep token`: mints a caller's token for development, with an HS256 key of the key file.
enum TokenCommand {
  private static let lifeSecondsDefault = 3600
  private static let lifeSecondsMax = 30 * 24 * 3600

  static func run(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let keys = Reading.callerKeys(
      &settings, want: "the path of a JWK Set with an oct key")
    guard let user = invocation.arguments.options["user"], !user.isEmpty else {
      throw CommandFailure(.usage, "token wants --user NAME")
    }
    let scope = invocation.arguments.options["scope"] ?? "user"
    guard ["user", "service", "ops"].contains(scope) else {
      throw CommandFailure(.usage, "--scope \(scope): want user, service or ops")
    }
    let seconds = invocation.arguments.options["seconds"] ?? "\(lifeSecondsDefault)"
    guard let life = Int64(seconds), (1...Int64(lifeSecondsMax)).contains(life) else {
      throw CommandFailure(
        .usage, "--seconds \(seconds): want a whole number from 1 to \(lifeSecondsMax)")
    }
    guard settings.problems.isEmpty, let keys else { throw Reading.failure(settings) }
    let now = SystemTime().now().seconds
    let claims: JSONValue = [
      "sub": .string(user), "scope": .string(scope), "iat": .integer(now),
      "exp": .integer(now + life),
    ]
    guard let token = keys.sign(claims: claims) else {
      throw CommandFailure(
        .configuration, "the key file holds no oct key; tokens of others are signed elsewhere")
    }
    print(token)
  }
}

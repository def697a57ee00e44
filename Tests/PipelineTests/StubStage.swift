import Pipeline
import TestSupport
import Vocabulary

/// A stage that does what the test says.
final class StubStage: Stage {
  let name = StageName.apns
  var isRepeatable = true
  var onTake: ([Delivery]) throws -> [Settlement] = { $0.map { Settlement($0, .done) } }
  var onAdvance: () throws -> [Settlement] = { [] }
  /// What it has taken and not settled; for tests that make it hold on.
  var held: [Delivery] = []
  private(set) var taken: [Delivery] = []

  var inHand: Int { held.count }
  var capacity: Int { .max }

  func take(_ deliveries: [Delivery]) throws -> [Settlement] {
    taken += deliveries
    return try onTake(deliveries)
  }

  func advance() throws -> [Settlement] { try onAdvance() }

  func forgetWaiting() { held = [] }

  func giveUpWaiting() -> [Delivery] {
    defer { held = [] }
    return held
  }
}

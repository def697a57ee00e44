import Cryptography
import Foundation
import HTTPClient
import ServiceRuntime
import Vocabulary

/// Calls the API as an app would: with an idempotency key, again and again while nobody answers, so
/// that a server killed in the middle costs time and nothing else. Owned by one thread.
final class Caller {
  /// How long one call is tried.
  private static let patience: Duration = .seconds(60)
  private static let pause: Duration = .milliseconds(250)
  private static let inProgress = "/problems/idempotency-key-in-progress"

  private let client = HTTPClient(timeout: .seconds(10))
  private let baseURL: String
  private let token: String
  private let stop: StopSignal

  init(baseURL: String, token: String, stop: StopSignal) {
    self.baseURL = baseURL
    self.token = token
    self.stop = stop
  }

  /// - Returns: the answer's JSON.
  /// - Throws: ``CommandFailure`` when the answer is a refusal, or nobody answered in time.
  @discardableResult
  func call(_ method: String, _ path: String, _ body: JSONValue? = nil) throws -> JSONValue {
    var headers = ["authorization": "Bearer \(token)"]
    if method == "POST" { headers["idempotency-key"] = UUIDText.random() }
    if body != nil { headers["content-type"] = "application/json" }
    let end = ContinuousClock.now + Self.patience
    var trouble = ""
    while ContinuousClock.now < end, !stop.isRaised {
      do {
        let answer = try client.send(
          method, baseURL + path, headers: headers, body: body?.encoded)
        if (200..<300).contains(answer.status) {
          return answer.body.isEmpty ? .null : try JSONValue(parsing: answer.body)
        }
        trouble = "\(answer.status) \(answer.text.prefix(500))"
        // Too many requests, a store that is away, and a first attempt that is still being worked
        // on pass; other refusals do not.
        guard [429, 503].contains(answer.status) || answer.text.contains(Self.inProgress) else {
          break
        }
      } catch let error as HTTPClientError {
        trouble = "\(error)"
      }
      stop.wait(atMost: Self.pause)
    }
    throw CommandFailure(.unavailable, "\(method) \(path): \(trouble)")
  }
}

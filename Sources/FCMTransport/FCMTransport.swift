import Foundation
import HTTPClient
import Pipeline
import Pushes
import Vocabulary

/// Sends messages to FCM over libcurl and keeps the access token they need, driven by its owner's
/// poll loop. Belongs to one thread.
///
/// While there is no token, requests wait for the one that is being asked for; when that fails they
/// end as unauthorized.
package final class FCMTransport: FCMCarrier {
  private let account: ServiceAccount
  private let sendURL: String
  private let http: HTTPTransfers
  private let requestsMax: Int
  private let time: any TimeSource
  private var tokens = AccessTokens()
  /// Wait for an access token, oldest first.
  private var held: [FCMRequest] = []
  /// The access tokens that requests went out with, by request number.
  private var sent: [UInt64: Int] = [:]

  /// Of the request for an access token; senders count up from 1.
  private static let tokenRequestNumber: UInt64 = 0

  /// `url`: Google's, `https://fcm.googleapis.com`, or a stand-in's.
  package init(
    account: ServiceAccount, url: String = googleURL, settings: HTTPTransfers.Settings,
    time: any TimeSource
  ) {
    self.account = account
    self.time = time
    sendURL = "\(url)/v1/projects/\(account.projectID)/messages:send"
    requestsMax = settings.requestsMax
    var settings = settings
    // One more for the request for a token.
    settings.requestsMax += 1
    http = HTTPTransfers(settings, elapsed: { time.elapsed() })
  }

  package static let googleURL = "https://fcm.googleapis.com"

  package var descriptors: [(descriptor: Int32, events: Int16)] { http.descriptors }
  package var capacity: Int { max(0, requestsMax - inFlight) }
  package var inFlight: Int { held.count + sent.count }

  package func send(_ request: FCMRequest) { held.append(request) }

  package func renewAccessToken(refused number: Int) { tokens.refused(number) }

  package func advance() -> [FCMResult] {
    askForToken()
    sendHeld()
    var results = http.advance().compactMap { number, end -> FCMResult? in
      guard number != Self.tokenRequestNumber else {
        takeToken(end)
        return nil
      }
      return FCMResult(
        number: number, outcome: outcome(end), accessToken: sent.removeValue(forKey: number))
    }
    sendHeld()
    if tokens.isHopeless(elapsed: time.elapsed()) {
      let trouble = tokens.trouble ?? NoAccessToken("none was asked for", isRefusal: false)
      results += held.map {
        FCMResult(number: $0.number, outcome: .unauthorized(trouble), accessToken: nil)
      }
      held = []
    }
    return results
  }

  package func close() {
    http.close()
    held = []
    sent = [:]
  }

  // MARK: The access token

  /// Nobody asks while nothing is to be sent: an idle sender needs no token.
  private func askForToken() {
    guard !held.isEmpty, tokens.shouldAsk(elapsed: time.elapsed()) else { return }
    http.send(
      HTTPTransfers.Request(
        post: account.tokenRequest(now: time.now()), to: account.tokenURL,
        fields: ["content-type: application/x-www-form-urlencoded"]),
      number: Self.tokenRequestNumber)
  }

  private func takeToken(_ end: HTTPTransfers.End) {
    let elapsed = time.elapsed()
    switch end {
    case .unanswered(let cause):
      let words = String(cause.prefix(FCMAnswer.wordsMax))
      tokens.failed(NoAccessToken(words, isRefusal: false), elapsed: elapsed)
    case .answered(let answer):
      switch AccessTokenAnswer(status: answer.status, body: answer.body) {
      case .granted(let token, let life): tokens.granted(token, life: life, elapsed: elapsed)
      case .refused(let trouble): tokens.failed(trouble, elapsed: elapsed)
      }
    }
  }

  // MARK: Messages

  private func sendHeld() {
    guard !held.isEmpty, let token = tokens.current(elapsed: time.elapsed()) else { return }
    let fields = ["authorization: Bearer \(token.text)", "content-type: application/json"]
    for request in held {
      sent[request.number] = token.number
      http.send(
        HTTPTransfers.Request(post: request.body, to: sendURL, fields: fields),
        number: request.number)
    }
    held = []
  }

  private func outcome(_ end: HTTPTransfers.End) -> FCMOutcome {
    switch end {
    case .unanswered(let cause):
      .unanswered(because: String(cause.prefix(FCMAnswer.wordsMax)))
    case .answered(let answer):
      .answered(
        FCMAnswer(
          status: answer.status, headers: answer.headers, body: answer.body, now: time.now()))
    }
  }
}

import HTTP2

/// One connection to APNs: the HTTP/2 client, the provider token it pushes with, and how much it
/// may carry.
final class APNsConnection {
  /// Counts the transport's connections, from 1: names it in the log.
  let number: Int
  let client: HTTP2Client
  var token: ProviderToken
  /// APNs accepted a push on it; before that it carries one stream at a time.
  private(set) var hasAccepted = false
  private(set) var hasCarried = false
  /// Why it takes no more requests and ends with its last stream; nil while it does.
  private(set) var retired: String?
  /// It ended for no fault of APNs or the network: the next one need not wait.
  private(set) var isExcused = false
  private var parkedUntil: Duration?
  /// When it is asked again whether its key is still the present one.
  var nextKeyLookAt: Duration
  /// When the last answer came, or it opened.
  private(set) var lastAnswerAt: Duration
  private var busySince: Duration

  init(number: Int, client: HTTP2Client, token: ProviderToken, now: Duration) {
    self.number = number
    self.client = client
    self.token = token
    nextKeyLookAt = now + KeyFile.lookInterval
    lastAnswerAt = now
    busySince = now
  }

  /// Counts as one of those that carry pushes, now or once it is open.
  var isUsable: Bool { retired == nil && client.goAway == nil && client.ended == nil }

  var isComing: Bool { isUsable && !client.takesRequests }

  /// How many more requests it may carry now.
  func room(now: Duration, streamsMax: Int) -> Int {
    guard retired == nil, client.takesRequests else { return 0 }
    if let parkedUntil {
      guard now >= parkedUntil else { return 0 }
      self.parkedUntil = nil
    }
    let allowed = min(client.maxConcurrentStreams, hasAccepted ? streamsMax : 1)
    return max(0, allowed - client.openStreams)
  }

  func carries(now: Duration) {
    hasCarried = true
    if client.openStreams <= 1 { busySince = now }
  }

  func answered(now: Duration, isAccepted: Bool) {
    lastAnswerAt = now
    if isAccepted { hasAccepted = true }
  }

  /// Takes no more requests; ends once its streams are done.
  func retire(because reason: String, isExcused: Bool = false) {
    guard retired == nil else { return }
    retired = reason
    self.isExcused = isExcused
  }

  func park(until moment: Duration) { parkedUntil = moment }

  /// Nothing was heard for so long that a sign of life is wanted.
  func wantsPing(now: Duration, settings: APNsTransportSettings) -> Bool {
    guard client.isOpen else { return false }
    guard client.openStreams > 0 else { return now - client.lastReceivedAt >= settings.idlePing }
    return now - max(client.lastReceivedAt, busySince) >= settings.silencePing
  }
}

/// One request as it came to the stand-in for APNs: what the rules look at.
package struct APNsRequest: Hashable, Sendable {
  package struct Header: Hashable, Sendable {
    /// Lower-case, as HTTP/2 wants it.
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package let method: String
  package let path: String
  /// In the order they came, without pseudo-headers; a name may stand twice.
  package let headers: [Header]
  package let body: [UInt8]
  /// What a phone could read of the body; a failure says why it could read nothing.
  package let payload: Result<PushPayload, Finding.Failure>

  package init(method: String, path: String, headers: [Header], body: [UInt8]) {
    self.method = method
    self.path = path
    self.headers = headers
    self.body = body
    payload = Result { () throws(Finding.Failure) in try PushPayload(reading: body) }
  }

  /// The first value of a header; nil when it is absent.
  func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Which of Apple's two services a phone belongs to.
package enum APNsEnvironment: String, Codable, Hashable, Sendable, CaseIterable {
  case production, sandbox
}

/// What a token is for. The three never mix.
package enum TokenUse: String, Codable, Hashable, Sendable {
  case alert
  case pushToStart = "la-pushToStart"
  case update = "la-update"
}

/// What APNs knows of a token.
package enum TokenStanding: Hashable, Sendable {
  case unknown
  case reachable(TokenUse)
  /// The app was uninstalled, or the Live Activity is over, at that moment.
  case unregistered(since: Int64)
}

/// When APNs gives a push up that it cannot deliver at once.
package enum PushExpiration: Hashable, Sendable {
  /// The header was absent: up to 30 days.
  case appleDecides
  /// `0`: one attempt, nothing is kept.
  case onceNow
  /// Unix seconds.
  case at(Int64)
}

/// The `apns-push-type` values that the rules know.
/// Source: research on "Sending notification requests to APNs", developer.apple.com.
package enum PushType: String, Codable, Hashable, Sendable, CaseIterable {
  case alert, background, complication, controls, fileprovider, liveactivity, location, mdm,
    pushtotalk, voip, widgets
}

import Sessions

/// What an operator may set of the API.
package struct APISettings: Hashable, Sendable {
  package var session: SessionLimits
  /// Sessions that have not ended and that one user has not left. Beyond it 429.
  package var liveSessionsPerUserMax: Int
  /// Requests per second and user in the long run. Callers with scope `service` are not limited.
  package var requestsPerSecond: Double
  /// Requests of one user at once.
  package var requestBurst: Int

  package init(
    session: SessionLimits = SessionLimits(), liveSessionsPerUserMax: Int = 100,
    requestsPerSecond: Double = 20, requestBurst: Int = 60
  ) {
    self.session = session
    self.liveSessionsPerUserMax = liveSessionsPerUserMax
    self.requestsPerSecond = requestsPerSecond
    self.requestBurst = requestBurst
  }
}

/// How long a session and its jobs may take.
package struct SessionLimits: Hashable, Sendable {
  /// From the last mutation to the session's end.
  package var ttl: Duration
  /// From creation to the session's end, whatever happens: the life of a Live Activity.
  package var lifeMax: Duration
  /// How long the kitchen may think about one job.
  package var jobTime: Duration

  package init(
    ttl: Duration = .seconds(2 * 3600), lifeMax: Duration = .seconds(8 * 3600),
    jobTime: Duration = .seconds(120)
  ) {
    self.ttl = ttl
    self.lifeMax = lifeMax
    self.jobTime = jobTime
  }
}

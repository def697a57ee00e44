/// Where one stage reads and where its messages go, as queues.yaml says.
package struct StageRoute: Hashable, Sendable {
  package let stage: StageName
  package let queue: String
  /// Where jobs for this stage are published, with ``routingKey``.
  package let exchange: String
  package let routingKey: String
  /// How many deliveries one worker holds unsettled.
  package var prefetch: Int
  package let ladder: RetryLadder
  package let deadExchange: String
  package let deadRoutingKey: String

  package init(
    stage: StageName, queue: String, exchange: String, routingKey: String, prefetch: Int,
    ladder: RetryLadder, deadExchange: String, deadRoutingKey: String
  ) {
    self.stage = stage
    self.queue = queue
    self.exchange = exchange
    self.routingKey = routingKey
    self.prefetch = prefetch
    self.ladder = ladder
    self.deadExchange = deadExchange
    self.deadRoutingKey = deadRoutingKey
  }
}

/// The stages, by their names in queues.yaml.
package enum StageName: String, Hashable, Sendable, CaseIterable {
  case build, apns, notify, webpush, fcm
}

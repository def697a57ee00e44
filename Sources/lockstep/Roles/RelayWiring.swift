import Pipeline
import RabbitMQBroker
import ServiceRuntime

/// The thread that carries events from the outbox to the broker. Every process that writes events
/// has one; each carries whatever waits.
enum RelayWiring {
  /// `bell`: rung when events went into the outbox. `onDepth`: told how many wait.
  static func start(
    _ process: RoleProcess, store: any Store, broker: BrokerWiring, bell: Bell,
    onDepth: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> (name: String, thread: OwnedThread) {
    let name = "outbox-relay"
    let thread = OwnedThread.start(named: name) {
      let publisher = RabbitMQPublisher(
        broker.address, name: name, time: process.time, log: process.log)
      let relay = OutboxRelay(
        store: store, publisher: publisher, eventsExchange: broker.routes.eventsExchange,
        time: process.time, log: process.log, metrics: process.metrics, health: process.health,
        tracer: process.tracer, onDepth: onDepth)
      relay.run(until: process.stop, grace: process.grace) {
        bell.wait(atMost: $0, or: process.stop)
      }
    }
    return (name, thread)
  }
}

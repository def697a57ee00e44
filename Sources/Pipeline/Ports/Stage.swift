/// One step of the pipeline, driven by a ``Worker``. Owned by the worker's thread; never blocks on
/// the network.
package protocol Stage: AnyObject {
  var name: StageName { get }
  /// Whether a delivery that comes again makes it return the same messages again. False: what it
  /// returned once goes out even when the connection of its delivery is lost.
  var isRepeatable: Bool { get }
  /// How many more deliveries it would take now, 0 while it must catch up.
  var capacity: Int { get }
  /// Deliveries taken and not settled yet.
  var inHand: Int { get }
  /// Descriptors to poll between calls, with their poll(2) events.
  var descriptors: [(descriptor: Int32, events: Int16)] { get }

  /// Takes deliveries to work on. Settles at once what it can.
  ///
  /// - Throws: ``StoreError``: nothing of these has happened; the worker offers them again.
  func take(_ deliveries: [Delivery]) throws -> [Settlement]
  /// Goes on with what is in hand.
  ///
  /// - Throws: ``StoreError``: what could not be stored stays in hand.
  func advance() throws -> [Settlement]
  /// The broker's connection is gone: what waits will come again. What has gone out already is
  /// still recorded, so that it is not sent twice.
  func forgetWaiting()
  /// The process ends: gives up what has not gone out.
  func giveUpWaiting() -> [Delivery]
}

/// A stage that settles everything it takes at once.
extension Stage {
  package var inHand: Int { 0 }
  package var capacity: Int { .max }
  package var descriptors: [(descriptor: Int32, events: Int16)] { [] }
  package func advance() throws -> [Settlement] { [] }
  package func forgetWaiting() {}
  package func giveUpWaiting() -> [Delivery] { [] }
}

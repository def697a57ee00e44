/// A copy of every event that is published from now on, for as long as it is open, beside the
/// workers and without holding them up. Owned by one thread.
package protocol EventTap: AnyObject {
  /// Connects. Does nothing when connected. What was published while it was not is missed.
  func open() throws(BrokerLost)
  /// What has arrived, oldest first; waits at most `limit` for the first.
  ///
  /// - Returns: at most as many as the tap holds unacknowledged; empty when nothing came.
  func receive(within limit: Duration) throws(BrokerLost) -> [Message]
  /// Everything received so far is kept; the broker may forget it.
  func acknowledge() throws(BrokerLost)
  func close()
}

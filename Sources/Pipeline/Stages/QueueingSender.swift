/// A stage that sends each job it takes and does something about the answer: the loop that such
/// stages share.
protocol QueueingSender: Stage {
  associatedtype Sending: PlacedSending
  associatedtype Answer

  var queue: SendingQueue<Sending, Answer> { get set }

  /// - Throws: ``UnreadableJob``.
  func read(_ delivery: Delivery) throws(UnreadableJob) -> Sending
  /// Sends what may go now, and drops what is not to go.
  ///
  /// - Throws: ``StoreError``; then nothing was sent.
  func sendWhatMayGo() throws
  /// Hands what was answered to the queue.
  func collectAnswers()
  /// Carries out what answers ask for, in one transaction.
  ///
  /// - Returns: what is done with, and what goes out again at once.
  /// - Throws: ``StoreError``; then nothing has been stored and nothing has changed here.
  func settleDecided() throws -> (settlements: [Settlement], again: [Sending])
  /// Counts one job by what became of it.
  func count(_ outcome: String)
  func showInFlight()
}

extension QueueingSender {
  package var inHand: Int { queue.count }
  package var capacity: Int { .max }

  package func take(_ deliveries: [Delivery]) throws -> [Settlement] {
    deliveries.compactMap { delivery in
      do throws(UnreadableJob) {
        queue.append(try read(delivery))
        return nil
      } catch {
        let disposition = Disposition.dead(because: "\(error)")
        count(disposition.outcome)
        return Settlement(delivery, disposition)
      }
    }
  }

  package func advance() throws -> [Settlement] {
    var settlements: [Settlement] = []
    do {
      // An answer that is here already must not wait for the next event on a descriptor.
      repeat {
        collectAnswers()
        settlements += try storeDecided()
        try sendWhatMayGo()
        collectAnswers()
      } while queue.hasDecided
    } catch {
      // What was settled above is stored and must be acknowledged; the next turn meets the store
      // again.
      if settlements.isEmpty { throw error }
    }
    showInFlight()
    return settlements
  }

  private func storeDecided() throws -> [Settlement] {
    guard queue.hasDecided else { return [] }
    let (settlements, again) = try settleDecided()
    queue.settled(again: again)
    return settlements
  }

  package func forgetWaiting() { queue.giveUp() }

  package func giveUpWaiting() -> [Delivery] { queue.giveUp() }
}

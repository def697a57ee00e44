/// What one sender has sent to a service and not heard of yet, and what it has heard since it last
/// looked.
final class UnderWay<Request, Outcome> {
  let ether: Ether
  /// By the number that the sender gave.
  private(set) var open: [UInt64: Request] = [:]
  private var heard: [(number: UInt64, outcome: Outcome)] = []

  init(through ether: Ether) { self.ether = ether }

  func begin(_ number: UInt64, _ request: Request) { open[number] = request }

  /// The sender hears `outcome` after `wait`, whatever became of what it sent.
  func answer(_ outcome: Outcome, to number: UInt64, after wait: Duration) {
    ether.later(wait, of: self, isAnswer: true) { [self] in
      guard open.removeValue(forKey: number) != nil else { return }
      heard.append((number, outcome))
    }
  }

  /// After `wait` it comes to the service, which does `arrive`; what that says is heard `back`
  /// later, or never.
  func arrival(
    of number: UInt64, after wait: Duration, thenAnswer back: Duration?,
    _ arrive: @escaping () -> Outcome
  ) {
    ether.later(wait, of: self) { [self] in
      let outcome = arrive()
      if let back { answer(outcome, to: number, after: back) }
    }
  }

  /// Lets happen what is due.
  ///
  /// - Returns: what was heard since the last call.
  func look() -> [(number: UInt64, outcome: Outcome)] {
    ether.pass()
    defer { heard = [] }
    return heard
  }

  /// The sender is gone.
  func end() {
    open = [:]
    ether.died(self)
  }
}

import ServiceRuntime

/// Calls a worker's stage, and tells apart what it throws.
///
/// Only ``StoreError`` means that the store is away, which is waited out. Any other error is a
/// mistake in the program, which no wait mends: a batch is then offered one by one, and a delivery
/// that fails alone is dead. What ``Stage/advance()`` throws is no single delivery's fault: the
/// worker ends, and the process with it.
struct StageCalls {
  /// The longest one call may take: far below RabbitMQ's consumer timeout of 30 minutes.
  static let limit: Duration = .seconds(60)

  private let stage: any Stage
  private let watchdog: Watchdog?
  private let log: Log

  init(stage: any Stage, watchdog: Watchdog?, log: Log) {
    self.stage = stage
    self.watchdog = watchdog
    self.log = log
  }

  struct Offered {
    var settlements: [Settlement] = []
    /// To be offered again: nothing of them has happened.
    var left: [Delivery] = []
    var storeTrouble: String?
  }

  func offer(_ deliveries: [Delivery]) -> Offered {
    guard !deliveries.isEmpty else { return Offered() }
    do {
      return Offered(settlements: try watched { try stage.take(deliveries) })
    } catch let error as StoreError {
      return Offered(left: deliveries, storeTrouble: error.reason)
    } catch {
      log.error("stage failed", ["deliveries": "\(deliveries.count)", "because": "\(error)"])
      guard deliveries.count > 1 else {
        return Offered(
          settlements: [Settlement(deliveries[0], .dead(because: "the stage failed: \(error)"))])
      }
    }
    var all = Offered()
    for (place, delivery) in deliveries.enumerated() {
      let one = offer([delivery])
      all.settlements += one.settlements
      if let trouble = one.storeTrouble {
        all.storeTrouble = trouble
        all.left = Array(deliveries[place...])
        break
      }
    }
    return all
  }

  struct Advanced {
    var settlements: [Settlement] = []
    var storeTrouble: String?
    var defect: String?
  }

  func advance() -> Advanced {
    do {
      return Advanced(settlements: try watched { try stage.advance() })
    } catch let error as StoreError {
      return Advanced(storeTrouble: error.reason)
    } catch {
      log.error("stage failed", ["stage": stage.name.rawValue, "because": "\(error)"])
      return Advanced(defect: "stage \(stage.name.rawValue): \(error)")
    }
  }

  private func watched<Result>(_ call: () throws -> Result) rethrows -> Result {
    watchdog?.arm(for: Self.limit, doing: "stage \(stage.name.rawValue)")
    defer { watchdog?.disarm() }
    return try call()
  }
}

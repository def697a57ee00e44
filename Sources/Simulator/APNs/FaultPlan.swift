/// What a fault looks at.
package struct FaultSubject: Hashable, Sendable {
  package let pushType: String?
  package let event: String?
  package let token: String
  package let phone: String?
  package let priority: Int?

  package init(
    pushType: String?, event: String?, token: String, phone: String?, priority: Int? = nil
  ) {
    self.pushType = pushType
    self.event = event
    self.token = token
    self.phone = phone
    self.priority = priority
  }
}

/// The faults that are left to strike, in order; the first that fits does.
package struct FaultPlan: Hashable, Sendable {
  private struct Planned: Hashable {
    var fault: Fault
    /// How many pushes have fitted since it last struck; only of one with `every`.
    var fitted = 0
  }

  private var planned: [Planned] = []

  package init(_ faults: [Fault] = []) { planned = faults.map { Planned(fault: $0) } }

  package var faults: [Fault] { planned.map(\.fault) }

  package var isEmpty: Bool { planned.isEmpty }

  /// Connections that refuse a push are held to one stream.
  package var narrowsConnections: Bool { planned.contains { $0.fault.action == .narrow } }

  /// How many streams a new connection may have open until its first 200; nil: as many as after.
  package var streamsAtStart: Int? {
    guard let start = planned.first(where: { $0.fault.action == .start }) else { return 1 }
    return start.fault.streams
  }

  /// The fault that strikes this push; nil for none. One with a count is used up by it.
  package mutating func strike(_ subject: FaultSubject, chance: inout TokenMint) -> Fault? {
    for index in planned.indices {
      let fault = planned[index].fault
      guard !fault.action.stands, fault.match?.fits(subject) ?? true else { continue }
      if let share = fault.match?.percent, chance.percent() >= share { continue }
      if let every = fault.every {
        planned[index].fitted += 1
        guard planned[index].fitted >= every else { continue }
        planned[index].fitted = 0
      }
      if let count = fault.count {
        if count <= 1 { planned.remove(at: index) } else { planned[index].fault.count = count - 1 }
      }
      return fault
    }
    return nil
  }
}

extension Fault.Match {
  fileprivate func fits(_ subject: FaultSubject) -> Bool {
    func agrees<Value: Equatable>(_ wanted: Value?, _ given: Value?) -> Bool {
      wanted == nil || wanted == given
    }
    return agrees(pushType, subject.pushType) && agrees(event, subject.event)
      && agrees(token?.lowercased(), subject.token) && agrees(phone, subject.phone)
      && agrees(priority, subject.priority)
  }
}

/// What a fault looks at.
package struct FaultSubject: Hashable, Sendable {
  package let pushType: String?
  package let event: String?
  package let token: String
  package let phone: String?

  package init(pushType: String?, event: String?, token: String, phone: String?) {
    self.pushType = pushType
    self.event = event
    self.token = token
    self.phone = phone
  }
}

/// The faults that are left to strike, in order; the first that fits does.
package struct FaultPlan: Hashable, Sendable {
  package private(set) var faults: [Fault] = []

  package init(_ faults: [Fault] = []) { self.faults = faults }

  package var isEmpty: Bool { faults.isEmpty }

  /// The fault that strikes this push; nil for none. One with a count is used up by it.
  package mutating func strike(_ subject: FaultSubject, chance: inout TokenMint) -> Fault? {
    for (index, fault) in faults.enumerated() where fault.match?.fits(subject) ?? true {
      if let share = fault.match?.percent, chance.percent() >= share { continue }
      if let count = fault.count {
        if count <= 1 { faults.remove(at: index) } else { faults[index].count = count - 1 }
      }
      return fault
    }
    return nil
  }
}

extension Fault.Match {
  fileprivate func fits(_ subject: FaultSubject) -> Bool {
    func agrees(_ wanted: String?, _ given: String?) -> Bool { wanted == nil || wanted == given }
    return agrees(pushType, subject.pushType) && agrees(event, subject.event)
      && agrees(token?.lowercased(), subject.token) && agrees(phone, subject.phone)
  }
}

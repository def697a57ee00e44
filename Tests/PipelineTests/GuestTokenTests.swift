import Foundation
import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

/// Tokens that were never accepted are tried in Apple's other environment too. There they are
/// guests: that it refuses them says nothing of it.
@Suite struct GuestTokenTests {
  private let rig = SenderRig()

  private func isUnproven(_ number: Int) -> Bool { number > 100 }

  @Test func `E-4 dead tokens among good ones are pruned, though the other environment takes none`()
    throws
  {
    for number in 1...130 { try rig.register(number, isProven: !isUnproven(number)) }
    let dead = Set((101...130).map(Samples.token))
    rig.transport.answer = {
      dead.contains($0.token) ? .status(400, "BadDeviceToken") : .status(200)
    }
    rig.transport.inFlightMax = 1000
    let settled = try rig.push(all: (1...130).map { try rig.job($0) })
    #expect(settled.count == 130)
    #expect(settled.allSatisfy { $0 == .done })
    #expect(rig.transport.requests.count == 160)
    for number in 101...130 { #expect(try rig.registration(number) == nil, "token \(number)") }
    #expect(!rig.counted.contains("lockstep_lane_open{"))
    #expect(rig.counted.contains("lockstep_guard_trips_total 0"))
  }

  @Test func `B-10 when their own topic refuses all, its lane opens, and its probes go there`()
    throws
  {
    for number in 1...25 { try rig.register(number, isProven: false) }
    rig.answer(400, "BadDeviceToken")
    rig.transport.inFlightMax = 1000
    _ = try rig.push(all: (1...25).map { try rig.job($0) })
    for number in 1...25 { #expect(try rig.registration(number) != nil, "token \(number)") }
    #expect(rig.counted.contains("lockstep_guard_trips_total 1"))
    let before = rig.transport.requests.count
    rig.answer(200)
    rig.time.advance(by: .seconds(15))
    _ = try rig.advance()
    let probes = rig.transport.requests.dropFirst(before)
    #expect(!probes.isEmpty)
    #expect(probes.allSatisfy { $0.environment == .production })
    for probe in probes {
      let moved = try rig.store.read { try $0.registrations(of: [probe.token])[probe.token] }
      #expect(moved?.first?.environment == .production)
    }
  }
}

import ActivityContracts
import Foundation
import Simulator
import Testing
import Vocabulary

@Suite struct VerdictTests {
  var fleet: Fleet
  let dennis: PhoneIdentity
  let mara: PhoneIdentity

  /// Dennis opened the session and started his card; Mara's came by push.
  init() throws {
    fleet = Fleet(rules: try Making.rules(), seed: 3)
    dennis = try fleet.add(
      id: nil, userID: UserID("dennis"), name: "Dennis", environment: .production)
    mara = try fleet.add(id: nil, userID: UserID("mara"), name: "Mara", environment: .production)
    _ = fleet.act(on: dennis.id, at: Making.now) { phone, mint in
      phone.startLocally(
        Making.attributes(), showing: Making.state(1), staleAt: nil, at: Making.now, mint: &mint)
    }
    startMara()
  }

  private mutating func startMara() {
    let push = Making.push(Making.start(), to: mara.pushToStartToken, use: .pushToStart)
    _ = fleet.deliver(push, at: Making.now)
  }

  /// What the API says, to everybody the same.
  private func truth(rev: Int = 1, state: String = "answering", mara: String = "joined") throws
    -> SessionAnswer
  {
    let shown = Making.state(rev, state)
    let json: JSONValue = [
      "id": "cs_abc", "date": "2026-06-18", "state": .string(state), "rev": .integer(Int64(rev)),
      "participants": [
        ["user_id": "dennis", "status": "joined"], ["user_id": "mara", "status": .string(mara)],
      ],
      "updated_at": .string(shown.updatedAt ?? ""), "status_label": .string(shown.statusLabel),
      "deep_link_step": "answers", "proposal_count": 0, "partner_ready": false, "ended": false,
    ]
    return try JSONDecoder().decode(SessionAnswer.self, from: json.encoded)
  }

  private func verdict(_ answer: SessionAnswer, callsWaiting: Int = 0) -> Verdict {
    Verdict(of: fleet, callsWaiting: callsWaiting) { _, _ in answer }
  }

  @Test func `equal cards are a good verdict`() throws {
    let verdict = try verdict(truth())
    #expect(verdict.ok)
    #expect(verdict.compared == 2)
    #expect(verdict.equal == 2)
    #expect(verdict.starts == 1)
  }

  @Test func `a card that lags is told with what differs`() throws {
    let verdict = try verdict(truth(rev: 2))
    #expect(!verdict.ok)
    #expect(verdict.different == 2)
    #expect(verdict.differences.first?.what == "rev is 1, want 2")
  }

  @Test func `a card that goes on after the end differs`() throws {
    let verdict = try verdict(truth(state: "cancelled"))
    #expect(
      verdict.differences.first?.what.hasPrefix("the card is active, the session is cancelled")
        == true)
  }

  @Test func `who left sees an ended card and is not compared further`() throws {
    #expect(try !verdict(truth(mara: "left")).ok)
    var copy = self
    let token = copy.fleet.phones[mara.id]?.cards[0].updateToken ?? ""
    _ = copy.fleet.deliver(
      Making.push(Making.update("end", rev: 1), to: token), at: Making.now)
    #expect(try copy.verdict(truth(mara: "left")).ok)
    #expect(try !copy.verdict(truth()).ok)
  }

  @Test mutating func `a start that never came is missing`() throws {
    _ = try fleet.add(id: nil, userID: UserID("mara"), name: "Mara", environment: .production)
    // Dennis's other phone gets none: only invited people's cards start by push.
    _ = try fleet.add(id: nil, userID: UserID("dennis"), name: "Dennis", environment: .production)
    let verdict = try verdict(truth())
    #expect(verdict.missing == 1)
    #expect(verdict.differences.map(\.phone) == ["mara-2"])
    #expect(!verdict.ok)
    #expect(try self.verdict(truth(mara: "left")).missing == 0)
  }

  @Test mutating func `a doubled start is counted`() throws {
    startMara()
    let verdict = try verdict(truth())
    #expect(verdict.starts == 2)
    #expect(verdict.doubledStarts == 1)
    #expect(verdict.complaintCount == 1)
    #expect(!verdict.ok)
  }

  @Test mutating func `dismissed and offline phones are left out`() throws {
    _ = fleet.act(on: mara.id, at: Making.now) { phone, _ in phone.dismiss(nil, at: Making.now) }
    _ = fleet.act(on: dennis.id, at: Making.now) { phone, _ in
      phone.goOffline()
      return []
    }
    let verdict = try verdict(truth(rev: 9))
    #expect(verdict.leftOut == 2)
    #expect(verdict.compared == 0)
    #expect(verdict.ok)
  }

  @Test func `calls that wait and truths that nobody gives spoil it`() throws {
    #expect(try !verdict(truth(), callsWaiting: 1).ok)
    let verdict = Verdict(of: fleet, callsWaiting: 0) { _, _ in throw SettingsError(["away"]) }
    #expect(!verdict.ok)
    #expect(verdict.unknown == ["cs_abc as dennis-1: away", "cs_abc as mara-1: away"])
  }
}

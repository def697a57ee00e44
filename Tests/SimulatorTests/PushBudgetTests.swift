import ActivityContracts
import Foundation
import Testing
import Vocabulary

@testable import Simulator

@Suite struct PushBudgetTests {
  private func phone(_ budget: PushBudget) -> (VirtualPhone, TokenMint) {
    var mint = TokenMint(seed: 1)
    let identity = PhoneIdentity(
      id: "mara-1", userID: UserID("mara"), name: "Mara", environment: .production,
      bundleID: Making.bundle, mint: &mint)
    return (VirtualPhone(identity, budget: budget), mint)
  }

  @Test func `immediate pushes over the hour's budget are dropped in silence, others are free`() {
    var (phone, mint) = phone(PushBudget(immediatePerHour: 2))
    _ = phone.startLocally(
      Making.attributes(), showing: Making.state(1), staleAt: nil, at: Making.now, mint: &mint)
    let token = phone.cards[0].updateToken
    func receive(rev: Int, priority: Int, after seconds: Int64) {
      let now = Making.now + .seconds(seconds)
      let push = AcceptedPush(
        token: token, use: .update, type: .liveactivity, topic: Making.bundle, priority: priority,
        expiration: .appleDecides, apnsID: nil, collapseID: nil, contentType: "application/json",
        payload: Making.request(body: Making.update(rev: rev, at: now)).payload)
      _ = phone.receive(push, at: now, mint: &mint)
    }
    receive(rev: 2, priority: 10, after: 1)
    receive(rev: 3, priority: 10, after: 2)
    receive(rev: 4, priority: 10, after: 3)
    #expect(phone.cards[0].contentState.rev == 3)
    #expect(phone.counts.overBudget == 1)
    receive(rev: 5, priority: 5, after: 4)
    #expect(phone.cards[0].contentState.rev == 5)
    receive(rev: 6, priority: 10, after: 3602)
    #expect(phone.cards[0].contentState.rev == 6)
    #expect(phone.counts.overBudget == 1)
  }

  @Test func `E-11 starts over the budget are dropped in silence`() {
    var (phone, mint) = phone(PushBudget(starts: 10))
    for number in 1...12 {
      let push = Making.push(
        Making.start(session: "cs_\(number)"), to: phone.identity.pushToStartToken,
        use: .pushToStart)
      _ = phone.receive(push, at: Making.now, mint: &mint)
    }
    #expect(phone.cards.count == 10)
    #expect(phone.counts.overBudget == 2)
  }

  @Test func `an order carries a budget`() throws {
    let text = #"{"user_id": "mara", "token": "t", "budget": {"immediate_per_hour": 20}}"#
    let order = try JSONDecoder().decode(PhoneOrder.self, from: Data(text.utf8))
    #expect(order.budget == PushBudget(immediatePerHour: 20))
  }
}

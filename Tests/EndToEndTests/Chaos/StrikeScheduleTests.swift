import Testing

@Suite struct StrikeScheduleTests {
  private func schedule(_ seed: UInt64, more: Int = 5) -> StrikeSchedule {
    StrikeSchedule(seed: seed, more: more, longest: .milliseconds(900))
  }

  @Test func `The same seed strikes the same, another one otherwise`() {
    #expect(schedule(7).strikes == schedule(7).strikes)
    #expect(schedule(7).strikes != schedule(8).strikes)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `Each kind of fault strikes in every round`(seed: UInt64) {
    let strikes = schedule(seed).strikes.map(\.what)
    #expect(strikes.contains(.killBroker) && strikes.contains(.freezeBroker))
    for role in Role.separate {
      #expect(strikes.contains(.kill(role)) && strikes.contains(.freeze(role)))
      #expect(strikes.contains(.end(role)))
    }
    for blow in LinkBlow.allCases {
      #expect(strikes.contains(.blow(blow, link: nil, .all)))
      #expect(strikes.contains(.blow(blow, link: StrikeSchedule.playersLink, .all)))
    }
    #expect(strikes.contains(.conduct(LinkConduct(isBlackHole: true), link: nil)))
    for strike in schedule(seed).strikes {
      let factor = strike.what.isBlackHole ? StrikeSchedule.blackHoleFactor : 1
      #expect(strike.lasts <= .milliseconds(900 * factor))
    }
    #expect(strikes.count == schedule(seed, more: 0).strikes.count + 5)
  }

  @Test func `Bytes come out in order, no sooner than their delay, and no byte twice`() {
    var underway = BytesUnderway()
    underway.take([1, 2], at: .seconds(1), LinkConduct(delay: .milliseconds(300)))
    underway.take([3], at: .seconds(1), .clear)
    #expect(underway.ready(at: .milliseconds(1299)) == nil)
    #expect(underway.ready(at: .milliseconds(1300)) == [1, 2])
    underway.left(1)
    #expect(underway.ready(at: .milliseconds(1300)) == [2])
    underway.left(1)
    #expect(underway.ready(at: .milliseconds(1300)) == [3])
    underway.left(1)
    #expect(underway.count == 0 && underway.nextDue == nil)
  }
}

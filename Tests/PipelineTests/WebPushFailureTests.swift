import Pipeline
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct WebPushFailureTests {
  @Test func `an answer that could not be stored is stored later, and not asked for again`() throws
  {
    let rig = try WebPushRig()
    let job = try rig.job(rig.subscribe())
    _ = try rig.sender.take([rig.delivery(job)])
    rig.storeSwitch.isAway = true
    #expect(throws: StoreError.self) { try rig.sender.advance() }
    rig.storeSwitch.isAway = false
    #expect(try rig.advance() == [.done])
    #expect(rig.carrier.requests.count == 1)
    #expect(rig.sender.inHand == 0)
  }

  @Test func `no more is sent than there is room for, and what waits can be given up`() throws {
    let rig = try WebPushRig()
    rig.carrier.inFlightMax = 2
    rig.carrier.answer = { _ in nil }
    let jobs = try (1...5).map { try rig.job(rig.subscribe($0)) }
    #expect(try rig.push(all: jobs).isEmpty)
    #expect(rig.carrier.requests.count == 2)
    #expect(rig.sender.inHand == 5)
    #expect(rig.sender.giveUpWaiting().count == 3)
    #expect(rig.sender.inHand == 2)
    rig.answer(201)
    #expect(try rig.advance() == [.done, .done])
  }

  @Test func `a host that does not answer is only tried now and then, the others go on`() throws {
    let rig = try WebPushRig()
    rig.carrier.answer = { request in
      request.endpoint.host == "web.push.apple.com"
        ? .unanswered(because: "timeout") : .answered(WebPushAnswer(status: 201))
    }
    func ill(_ number: Int) throws -> WebPushJob {
      try rig.job(rig.subscribe(number, host: "web.push.apple.com"))
    }
    for number in 1...25 { _ = try rig.push(ill(number)) }
    #expect(rig.carrier.requests.count == 20)
    let words = "web.push.apple.com does not answer"
    #expect(try rig.push(ill(26)) == [.retry(notBefore: .seconds(30), because: words)])
    #expect(try rig.push(rig.job(rig.subscribe(27))) == [.done])
    #expect(rig.carrier.requests.count == 21)
    rig.time.advance(by: .seconds(15))
    #expect(try rig.push(ill(28)) == [.retry(notBefore: .seconds(5), because: "timeout")])
    #expect(try rig.push(ill(29)) == [.retry(notBefore: .seconds(30), because: words)])
    rig.time.advance(by: .seconds(15))
    rig.answer(201)
    #expect(try rig.push(ill(30)) == [.done])
    #expect(try rig.push(ill(31)) == [.done])
  }
}

import Foundation
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@Suite struct ThreadTests {
  @Test func `a raised signal wakes a poll`() {
    let stop = StopSignal()
    let woken = Mutex<Duration?>(nil)
    let thread = OwnedThread.start(named: "waiter") {
      let begun = ContinuousClock.now
      Poll.wait([(stop.descriptor, Poll.readable)], atMost: .seconds(30))
      woken.withLock { $0 = ContinuousClock.now - begun }
    }
    #expect(!stop.isRaised)
    stop.raise()
    #expect(becomesTrue { thread.hasEnded })
    #expect(stop.isRaised)
    #expect(woken.withLock { $0 } ?? .seconds(99) < .seconds(10))
  }

  @Test func `it stays raised for every later wait`() {
    let stop = StopSignal()
    stop.raise()
    stop.raise()
    for _ in 0..<3 {
      #expect(stop.wait(atMost: .seconds(30)))
      #expect(Poll.isReadable(stop.descriptor))
    }
  }

  @Test func `a wait ends at its limit`() {
    #expect(!StopSignal().wait(atMost: .milliseconds(1)))
    #expect(!StopSignal().wait(atMost: .zero))
    #expect(!StopSignal().wait(atMost: .seconds(-1)))
  }

  @Test func `a bell wakes its loop once for all rings so far`() {
    let bell = Bell()
    let stop = StopSignal()
    bell.ring()
    bell.ring()
    bell.wait(atMost: .seconds(30), or: stop)
    #expect(!Poll.isReadable(bell.descriptor))
    bell.wait(atMost: .milliseconds(1), or: stop)
    stop.raise()
    bell.wait(atMost: .seconds(30), or: stop)
  }

  @Test func `a thread has its name and says when it has ended`() {
    let seen = Mutex("")
    let thread = OwnedThread.start(named: "a name that is too long") {
      let name = FileManager.default.contents(atPath: "/proc/thread-self/comm")
      seen.withLock { $0 = String(decoding: name ?? Data(), as: UTF8.self) }
    }
    #expect(becomesTrue { thread.hasEnded })
    #expect(seen.withLock { $0 } == "a name that is \n")
  }
}

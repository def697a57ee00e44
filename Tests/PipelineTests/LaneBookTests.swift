import Pushes
import TestSupport
import Testing
import Vocabulary

@testable import Pipeline

@Suite struct LaneBookTests {
  private let lane = Lane(environment: .production, topic: "t")
  private let noon = Samples.noon
  private let due = Samples.noon + LaneBook.probeInterval

  @Test func `a lane is closed until something opens it`() {
    var book = LaneBook()
    #expect(book.permission(on: lane, now: noon) == .send)
    let wasClosed = book.open(lane, because: "403", now: noon)
    #expect(wasClosed)
    #expect(book.permission(on: lane, now: noon) == .wait)
    #expect(book.reasons == [lane: "403"])
  }

  @Test func `other lanes go on`() {
    var book = LaneBook()
    _ = book.open(lane, because: "403", now: noon)
    #expect(book.permission(on: Lane(environment: .sandbox, topic: "t"), now: noon) == .send)
    #expect(book.permission(on: Lane(environment: .production, topic: "u"), now: noon) == .send)
  }

  @Test func `one probe at a time, when it is due`() {
    var book = LaneBook()
    _ = book.open(lane, because: "403", now: noon)
    #expect(book.permission(on: lane, now: due - .milliseconds(1)) == .wait)
    #expect(book.permission(on: lane, now: due) == .probe)
    #expect(book.permission(on: lane, now: due + .seconds(3600)) == .wait)
  }

  @Test func `a clock that was set back delays no probe`() {
    var book = LaneBook()
    _ = book.open(lane, because: "403", now: noon)
    #expect(book.permission(on: lane, now: noon - .milliseconds(1)) == .probe)
  }

  @Test func `an accepted probe closes the lane`() {
    var book = LaneBook()
    _ = book.open(lane, because: "403", now: noon)
    _ = book.permission(on: lane, now: due)
    let accepted = [book.accepted(on: lane), book.accepted(on: lane)]
    #expect(accepted == [true, false], "only the first closed it")
    #expect(book.permission(on: lane, now: due) == .send)
    #expect(book.changes == [lane: false])
  }

  @Test func `a refused or undecided probe is followed by another one, later`() {
    for isRefused in [true, false] {
      var book = LaneBook()
      _ = book.open(lane, because: "403", now: noon)
      _ = book.permission(on: lane, now: due)
      if isRefused {
        let wasClosed = book.open(lane, because: "403 again", now: due)
        #expect(!wasClosed, "no second alarm")
      } else {
        book.undecided(on: lane, now: due)
      }
      #expect(book.permission(on: lane, now: due + .seconds(1)) == .wait)
      #expect(book.permission(on: lane, now: due + LaneBook.probeInterval) == .probe)
    }
  }

  @Test func `what says nothing about a closed lane changes nothing`() {
    var book = LaneBook()
    book.undecided(on: lane, now: noon)
    #expect(book.permission(on: lane, now: noon) == .send)
    #expect(book.changes.isEmpty)
  }
}

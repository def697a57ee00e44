import Foundation
import Testing
import Vocabulary

@Suite struct UnixTimeTests {
  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000Z", "1970-01-01 00:00:00"),
    (1_781_809_923_123, "2026-06-18T19:12:03.123Z", "2026-06-18 19:12:03"),
    (-1, "1969-12-31T23:59:59.999Z", "1969-12-31 23:59:59"),
    (951_782_400_005, "2000-02-29T00:00:00.005Z", "2000-02-29 00:00:00"),
    (253_402_300_799_999, "9999-12-31T23:59:59.999Z", "9999-12-31 23:59:59"),
  ])
  func `a moment has two written forms`(milliseconds: Int64, rfc3339: String, contract: String) {
    let moment = UnixTime(milliseconds: milliseconds)
    #expect(moment.rfc3339 == rfc3339)
    #expect(moment.contractForm == contract)
    #expect(UnixTime(rfc3339) == moment)
    #expect(UnixTime(contract) == UnixTime(seconds: moment.seconds))
  }

  @Test(arguments: [
    ("2026-06-18T19:12:03Z", 1_781_809_923_000),
    ("2026-06-18t19:12:03z", 1_781_809_923_000),
    ("2026-06-18 19:12:03Z", 1_781_809_923_000),
    ("2026-06-18T21:12:03+02:00", 1_781_809_923_000),
    ("2026-06-18T13:42:03-05:30", 1_781_809_923_000),
    ("2026-06-18T19:12:03.1Z", 1_781_809_923_100),
    ("2026-06-18T19:12:03.1239999999999999999999Z", 1_781_809_923_123),
    ("2024-02-29T00:00:00Z", 1_709_164_800_000),
    ("2016-12-31T23:59:60Z", 1_483_228_800_000),
  ])
  func `RFC 3339 is read`(text: String, milliseconds: Int64) {
    #expect(UnixTime(text) == UnixTime(milliseconds: milliseconds))
  }

  @Test(arguments: [
    "", "2026", "2026-06-18", "2026-06-18T19:12Z", "2026-06-18T19:12:03", "2026-06-18T19:12:03.Z",
    "2026-06-18T19:12:03.Z", "2026-06-18T24:00:00Z", "2026-06-18T19:60:00Z",
    "2026-06-18T19:12:61Z", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-02-31T00:00:60Z",
    "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z",
    "2026-06-18T19:12:03+2:00", "2026-06-18T19:12:03+24:00", "2026-06-18T19:12:03Z ",
    "+026-06-18T19:12:03Z", "２026-06-18T19:12:03Z", "2026-06-18_19:12:03Z", "26-06-18T19:12:03Z",
  ])
  func `anything else is not a moment`(text: String) {
    #expect(UnixTime(text) == nil)
  }

  @Test(arguments: [(999, 0), (1000, 1), (-1, -1), (-1000, -1), (-1001, -2)])
  func `seconds are rounded down`(milliseconds: Int64, seconds: Int64) {
    #expect(UnixTime(milliseconds: milliseconds).seconds == seconds)
  }

  @Test func `arithmetic stops at the ends of the range`() {
    let last = UnixTime(milliseconds: .max)
    let first = UnixTime(milliseconds: .min)
    #expect(UnixTime(seconds: .max) == last)
    #expect(UnixTime(seconds: .min) == first)
    #expect(last + .milliseconds(1) == last)
    #expect(first - .milliseconds(1) == first)
    #expect((last - first).milliseconds == .max)
    #expect((first - last).milliseconds == .min)
    #expect(Duration.seconds(Int64.max).milliseconds == .max)
  }

  @Test func `moments and spans add up`() {
    let moment = UnixTime(seconds: 10)
    #expect(moment + .milliseconds(1500) == UnixTime(milliseconds: 11_500))
    #expect(moment - .milliseconds(1) == UnixTime(milliseconds: 9_999))
    #expect(moment - UnixTime(seconds: 8) == .seconds(2))
    #expect(moment < moment + .milliseconds(1))
    #expect(Duration.milliseconds(1500).secondsAndFraction == 1.5)
    #expect(Duration.milliseconds(-1500).milliseconds == -1500)
  }

  @Test func `JSON holds RFC 3339 and takes the contract's form`() throws {
    let moment = UnixTime(milliseconds: 1_781_809_923_123)
    #expect(JSON.encoded([moment]) == Data(#"["2026-06-18T19:12:03.123Z"]"#.utf8))
    let read = try JSON.decode([UnixTime].self, from: Data(#"["2026-06-18 19:12:03"]"#.utf8))
    #expect(read == [UnixTime(seconds: 1_781_809_923)])
  }

  @Test func `JSON with another text names it`() throws {
    let error = #expect(throws: DecodingError.self) {
      try JSON.decode([String: UnixTime].self, from: Data(#"{"at":"soon"}"#.utf8))
    }
    #expect(
      try DecodingProblem(#require(error)).description
        == "at is wrong: \"soon\" is not an RFC 3339 time")
  }
}

import APNsTransport
import Foundation
import HTTP2
import Pushes
import TestSupport
import Testing
import Vocabulary

@Suite struct AnswerReaderTests {
  private func read(
    _ status: Int, _ body: String = "", _ headers: [(name: String, value: String)] = []
  ) -> PushAnswer {
    var reader = AnswerReader()
    return reader.read(status: status, headers: HeaderBlock(headers), body: Data(body.utf8)) {
      Samples.noon
    }
  }

  @Test(arguments: [
    (#"{"reason":"BadDeviceToken"}"#, "BadDeviceToken" as String?),
    (#"{"reason":"Service Unavailable"}"#, "ServiceUnavailable"), ("", nil),
    ("<html>bad gateway</html>", "<html>bad gateway</html>"), (#"{"other":1}"#, #"{"other":1}"#),
  ])
  func `the reason is Apple's, or the raw text`(body: String, reason: String?) {
    #expect(read(400, body).reason == reason)
  }

  @Test func `raw text is cut at two hundred characters`() {
    #expect(read(502, String(repeating: "ä", count: 200)).reason?.count == 200)
    #expect(read(502, String(repeating: "ä", count: 201)).reason?.count == 200)
  }

  @Test(arguments: [
    ("30", Duration.seconds(30) as Duration?), ("0", .zero), ("-1", nil), ("soon", nil),
    ("86401", .seconds(86_400)), ("Thu, 18 Jun 2026 12:01:30 GMT", .seconds(90)),
    ("Thu, 18 Jun 2026 11:00:00 GMT", nil),
  ])
  func `retry-after is seconds or a date`(text: String, wait: Duration?) {
    #expect(read(429, "", [("retry-after", text)]).retryAfter == wait)
  }

  @Test func `a retry-after date counts from the answer's own date`() {
    let answer = read(
      503, "",
      [
        ("date", "Thu, 18 Jun 2026 11:59:00 GMT"), ("retry-after", "Thu, 18 Jun 2026 12:00:00 GMT"),
      ])
    #expect(answer.retryAfter == .seconds(60))
    #expect(answer.date == Samples.noon - .seconds(60))
  }

  @Test(arguments: [
    "", "yesterday", "Thu, 31 Jun 2026 12:00:00 GMT", "Thu, 18 Foo 2026 12:00:00 GMT",
  ])
  func `what is no date is none`(text: String) {
    #expect(HTTPDate.parse(text) == nil)
  }

  @Test func `the first reconnect is at once, later ones wait longer each time, up to a limit`() {
    var delay = ReconnectDelay(least: .milliseconds(250), most: .seconds(2))
    let waits = (0..<6).map { _ in delay.failed(chance: 1).milliseconds }
    #expect(waits == [0, 250, 500, 1000, 2000, 2000])
    #expect(delay.failed(chance: 0) == .seconds(1))
    delay.succeeded()
    #expect(delay.failed(chance: 0) == .zero)
    #expect(delay.failed(chance: 0) == .milliseconds(125))
  }
}

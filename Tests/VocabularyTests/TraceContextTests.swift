import Testing
import Vocabulary

@Suite struct TraceContextTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let span = "b7ad6b7169203331"

  @Test(arguments: [("01", true), ("00", false), ("03", true), ("fe", false)])
  func `A valid header is read, and says whether the trace is kept`(flags: String, kept: Bool)
    throws
  {
    let context = try #require(TraceContext("00-\(Self.trace)-\(Self.span)-\(flags)"))
    #expect(context.traceID == Self.trace)
    #expect(context.spanID == Self.span)
    #expect(context.isSampled == kept)
    #expect(context.traceparent == "00-\(Self.trace)-\(Self.span)-\(kept ? "01" : "00")")
  }

  @Test(arguments: [
    "", "00", "00-1-2-01", "01-\(trace)-\(span)-01", "00-\(trace)-\(span)",
    "00-\(trace)-\(span)-01-more", "00-\(trace.uppercased())-\(span)-01",
    "00-\(String(repeating: "0", count: 32))-\(span)-01",
    "00-\(trace)-\(String(repeating: "0", count: 16))-01", "00-\(trace)-\(span)-0g",
    " 00-\(trace)-\(span)-01",
  ])
  func `What is no header of version 00 is none`(text: String) {
    #expect(TraceContext(text) == nil)
  }

  @Test func `The same words make the same child, other words another`() throws {
    let parent = try #require(TraceContext("00-\(Self.trace)-\(Self.span)-01"))
    #expect(parent.child("apns", "job", "1") == parent.child("apns", "job", "1"))
    let others = [
      parent, parent.child("apns", "job", "2"), parent.child("apns", "jo", "b1"),
      parent.child("apnsjob", "1"), parent.child("apns", "job").child("1"),
    ]
    let child = parent.child("apns", "job", "1")
    for other in others { #expect(other.spanID != child.spanID) }
    #expect(child.traceID == parent.traceID)
    #expect(child.isSampled)
    #expect(TraceContext(child.traceparent) == child)
  }

  @Test func `Of the traces that begin here the wanted share is kept`() {
    var random = SystemRandomNumberGenerator()
    let begun = { (share: Double) in
      (0..<4000).map { _ in TraceContext.beginning(keeping: share, using: &random) }
    }
    let kept = { (share: Double) in begun(share).filter(\.isSampled).count }
    #expect(kept(1) == 4000)
    #expect(kept(0) == 0)
    // Nine standard deviations wide.
    #expect((700...1300).contains(kept(0.25)))
    #expect(Set(begun(1).map(\.traceID)).count == 4000)
    for trace in begun(1) { #expect(TraceContext(trace.traceparent) == trace) }
  }
}

import Testing

@testable import SQLiteStore

/// Which program may use which database, and which may look at it.
@Suite struct SchemaVersionTests {
  private static let older = "has schema 4, this program wants 5: start one of its roles once"
  private static let newer =
    "has schema 6, which wants a program that knows 6; this one knows up to 5: start the newer"
    + " program"

  @Test(arguments: [
    (reached: 5, wanted: 1, refusal: nil, refusalToLook: nil),
    (reached: 6, wanted: 1, refusal: nil, refusalToLook: nil),
    (reached: 6, wanted: 5, refusal: nil, refusalToLook: nil),
    (reached: 6, wanted: 6, refusal: newer, refusalToLook: newer),
    (reached: 4, wanted: 4, refusal: nil, refusalToLook: older),
    (reached: 0, wanted: 0, refusal: nil, refusalToLook: "is not a Lockstep database"),
  ])
  func `a program that knows five steps`(
    reached: Int, wanted: Int, refusal: String?, refusalToLook: String?
  ) {
    let version = SchemaVersion(reached: reached, wanted: wanted)
    #expect(version.refusal(knowing: 5) == refusal)
    #expect(version.refusalToLook(knowing: 5) == refusalToLook)
  }
}

import Sessions
import Testing

@Suite struct EventTypeTests {
  @Test func `all types of the spec have their full name`() {
    #expect(
      SessionEventType.allCases.map(\.typeName) == [
        "cooksuggest.session.created", "cooksuggest.session.joined",
        "cooksuggest.session.answered", "cooksuggest.session.readied",
        "cooksuggest.session.generating", "cooksuggest.session.proposed",
        "cooksuggest.session.picked", "cooksuggest.session.confirmed",
        "cooksuggest.session.finalizing", "cooksuggest.session.decided",
        "cooksuggest.session.left", "cooksuggest.session.cancelled",
      ])
  }

  @Test(arguments: SessionEventType.allCases)
  func `a full name reads back`(type: SessionEventType) {
    #expect(SessionEventType(typeName: type.typeName) == type)
  }

  @Test(arguments: [
    "", "picked", "cooksuggest.session.", "cooksuggest.session.eaten", "activity.started",
    "cooksuggest.session.picked.",
  ])
  func `another type is none of ours`(name: String) {
    #expect(SessionEventType(typeName: name) == nil)
  }
}

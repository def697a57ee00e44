import Pipeline
import Sessions
import TestSupport
import Testing

/// Two senders had one alert: what takes it back must come after both of its pushes.
@Suite struct TakingBackAgainTests {
  private let world = AlertWorld()

  private var pushed: [String] { world.transport.requests.map(\.pushType) }

  /// A sender died with the alert under way, and the next one has sent it too.
  private func sendTwice() throws -> CookStory {
    let story = try CookStory()
    world.tell(story.events)
    world.transport.answer = { _ in nil }
    try world.turns()
    world.killSender()
    try world.turns()
    #expect(pushed == ["alert"])
    return story
  }

  private func cancel(_ story: inout CookStory) throws {
    try story.go(.cancel, by: Samples.dennis, at: world.time.now())
    world.tell([story.last])
    try world.turns()
  }

  private func expectTakenBackTwice() throws {
    let before = world.time.elapsed()
    try world.settle()
    #expect(pushed == ["alert", "background", "background"])
    #expect(world.time.elapsed() - before >= .seconds(30))
    #expect(world.broker.waiting(on: .apns).isEmpty)
    #expect(world.broker.messages(in: "dead.apns").isEmpty)
  }

  @Test func `resolved while it was under way`() throws {
    var story = try sendTwice()
    try cancel(&story)
    world.transport.answer = { _ in .status(200) }
    try expectTakenBackTwice()
  }

  @Test func `resolved a moment after it was accepted`() throws {
    var story = try sendTwice()
    world.transport.answer = { _ in .status(200) }
    try world.turns()
    try cancel(&story)
    try expectTakenBackTwice()
  }

  @Test func `not resolved, it is sent once and nothing is taken back`() throws {
    _ = try sendTwice()
    world.transport.answer = { _ in .status(200) }
    try world.settle()
    #expect(pushed == ["alert"])
    #expect(world.broker.waiting(on: .apns).isEmpty)
  }
}

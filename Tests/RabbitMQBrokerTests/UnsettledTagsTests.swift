import Testing

@testable import RabbitMQBroker

@Suite struct UnsettledTagsTests {
  typealias Settlement = UnsettledTags.Settlement

  private func tags(upTo last: UInt64) -> UnsettledTags {
    var tags = UnsettledTags()
    for tag in 1...last { tags.delivered(tag) }
    return tags
  }

  @Test func `all at once are one call`() {
    var tags = tags(upTo: 5)
    #expect(tags.settle([3, 1, 2, 5, 4]) == [Settlement(tag: 5, multiple: true)])
    #expect(tags.count == 0)
  }

  @Test func `the oldest alone is a single call`() {
    var tags = tags(upTo: 5)
    #expect(tags.settle([1]) == [Settlement(tag: 1, multiple: false)])
    #expect(tags.count == 4)
  }

  @Test func `what an older one is open before goes singly`() {
    var tags = tags(upTo: 5)
    #expect(
      tags.settle([1, 2, 4, 5]) == [
        Settlement(tag: 2, multiple: true), Settlement(tag: 4, multiple: false),
        Settlement(tag: 5, multiple: false),
      ])
    #expect(tags.settle([3]) == [Settlement(tag: 3, multiple: false)])
  }

  @Test func `a gap that was settled before does not break the row`() {
    var tags = tags(upTo: 4)
    _ = tags.settle([2])
    #expect(tags.settle([1, 3, 4]) == [Settlement(tag: 4, multiple: true)])
  }

  @Test func `settled and unknown tags make no call`() {
    var tags = tags(upTo: 2)
    _ = tags.settle([1])
    #expect(tags.settle([1, 7]).isEmpty)
    #expect(tags.settle([] as [UInt64]).isEmpty)
    #expect(tags.count == 1)
  }
}

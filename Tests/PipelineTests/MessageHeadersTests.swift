import Pipeline
import Testing

@Suite struct MessageHeadersTests {
  @Test func `a name is there once, and its last value counts`() {
    var headers: MessageHeaders = ["a": 1, "b": "x", "a": .flag(true)]
    #expect(headers.count == 2)
    #expect(headers["a"] == .flag(true))
    headers["b"] = "y"
    headers["c"] = 3
    #expect(headers.map(\.key).sorted() == ["a", "b", "c"])
    #expect(headers["b"] == "y")
    headers["a"] = nil
    headers["d"] = nil
    #expect(headers == ["b": "y", "c": 3])
    #expect(headers["a"] == nil)
  }

  @Test func `in another order they are the same`() {
    let one: MessageHeaders = ["a": 1, "b": 2]
    let other: MessageHeaders = ["b": 2, "a": 1]
    #expect(one == other)
    #expect(Set([one, other]).count == 1)
    #expect(one != ["a": 1])
    #expect(one != ["a": 1, "c": 2])
    #expect(one != ["a": 1, "b": 3])
    #expect(MessageHeaders(one.dictionary) == one)
  }

  @Test func `names that only look alike can be kept and shown`() {
    var headers: MessageHeaders = ["\u{E9}": 1]
    headers["e\u{301}"] = 2
    #expect(headers.count == 2)
    #expect(headers.dictionary.count == 1)
    #expect(MessageHeaders(headers.dictionary)["\u{E9}"] == 1)
  }

  @Test func `what is filtered keeps its values`() {
    let headers: MessageHeaders = ["a": 1, "b": 2, "c": 3]
    let kept: MessageHeaders = headers.filter { $0.key != "b" }
    #expect(kept == ["a": 1, "c": 3])
  }
}

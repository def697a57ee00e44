import Pushes
import Testing

@Suite struct BundleIDTests {
  @Test(arguments: ["app.example.cook", "cook", "com.Example-1.cook"])
  func `a bundle id is taken`(text: String) throws {
    #expect(try BundleID(text).text == text)
  }

  @Test(arguments: [
    ("", BundleIDError.malformed), ("app..cook", .malformed), (".cook", .malformed),
    ("app.example.cook ", .malformed), ("app.exämple.cook", .malformed),
    (String(repeating: "a", count: BundleID.charactersMax + 1), .malformed),
    ("app.example.cook.push-type.liveactivity", .hasSuffix),
  ])
  func `B-2 what would make a topic that APNs refuses is refused`(
    text: String, error: BundleIDError
  ) {
    #expect(throws: error) { try BundleID(text) }
  }
}

import Foundation
import FuzzEntries
import Testing

/// Every input of the corpus, those that once were findings included, through the functions that
/// the fuzzer drives.
@Suite struct CorpusTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fuzz/Corpus")
  /// All inputs together, in bytes.
  private static let bytesMax = 100_000

  private static func inputs(of target: FuzzTarget) throws -> [Data] {
    let folder = folder.appending(path: target.rawValue)
    return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }.map { try Data(contentsOf: $0) }
  }

  @Test(arguments: FuzzTarget.allCases)
  func `no input of the corpus brings a reader down`(target: FuzzTarget) throws {
    let inputs = try Self.inputs(of: target)
    #expect(!inputs.isEmpty)
    for input in inputs {
      target.read(Array(input))
      // What is cut off or changed in one place is the first thing that a network makes of it.
      for cut in stride(from: 0, to: input.count, by: max(1, input.count / 16)) {
        target.read(Array(input.prefix(cut)))
        var changed = Array(input)
        changed[cut] ^= 0x20
        target.read(changed)
      }
    }
  }

  @Test func `the corpus stays small`() throws {
    let bytes = try FuzzTarget.allCases.flatMap(Self.inputs).reduce(0) { $0 + $1.count }
    #expect(bytes <= Self.bytesMax)
  }
}

import Foundation
import Testing

/// Compares `text` with `Goldens/{name}` beside the test's file, byte for byte. With
/// `UPDATE_GOLDENS=1` the file is written instead.
package func expectGolden(
  _ name: String, _ text: Data, beside testFile: String = #filePath,
  _ location: SourceLocation = #_sourceLocation
) throws {
  let file = URL(filePath: testFile).deletingLastPathComponent().appending(path: "Goldens/\(name)")
  if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file)
  }
  let golden = String(decoding: try Data(contentsOf: file), as: UTF8.self)
  #expect(
    String(decoding: text, as: UTF8.self) == golden, "differs from \(name)",
    sourceLocation: location)
}

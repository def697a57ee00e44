import Foundation
import Testing

/// Compares `text` with a file in this folder's `Goldens`, byte for byte. With `UPDATE_GOLDENS=1`
/// the file is written first.
func expectGolden(
  _ name: String, _ text: Data, _ location: SourceLocation = #_sourceLocation
) throws {
  let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Goldens/\(name)")
  if ProcessInfo.processInfo.environment["UPDATE_GOLDENS"] == "1" {
    try text.write(to: file)
  }
  let golden = String(decoding: try Data(contentsOf: file), as: UTF8.self)
  #expect(String(decoding: text, as: UTF8.self) == golden, "\(name)", sourceLocation: location)
}

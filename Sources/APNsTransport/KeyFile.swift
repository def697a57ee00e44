import Foundation

/// A key file that may be replaced while we run, by a new file or a new link target.
package struct KeyFile: Sendable {
  /// How often the file is looked at, at most.
  package static let lookInterval = Duration.seconds(30)
  /// A `.p8` file has about 250.
  package static let bytesMax = 65_536

  package struct Content: Hashable, Sendable {
    /// With links followed.
    package let path: String
    package let text: String

    /// From `AuthKey_<KEYID>.p8`; nil for another name.
    package var keyID: String? {
      let name = path.split(separator: "/").last ?? ""
      guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8") else { return nil }
      let keyID = name.dropFirst(8).dropLast(3)
      return keyID.isEmpty ? nil : String(keyID)
    }
  }

  private struct Stamp: Hashable {
    let device: UInt
    let inode: UInt
    let size: Int
    let seconds: Int
    let nanoseconds: Int
  }

  package let path: String
  private var lookedAt: Duration?
  private var stamp: Stamp?
  private var content: Content?

  package init(path: String) { self.path = path }

  /// Looks whether the file changed since the last look; at once the first time, then not before
  /// ``lookInterval`` has passed.
  ///
  /// - Returns: what it holds now; nil when that is what it held before.
  /// - Throws: when it cannot be read; the next look tries again.
  package mutating func change(elapsed: Duration) throws -> Content? {
    if let lookedAt, elapsed - lookedAt < Self.lookInterval { return nil }
    lookedAt = elapsed
    let present = try currentStamp()
    guard present != stamp else { return nil }
    guard present.size <= Self.bytesMax else {
      throw APNsTransportError("\(path) has \(present.size) bytes; want at most \(Self.bytesMax)")
    }
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let text = String(decoding: try Data(contentsOf: target), as: UTF8.self)
    guard !text.isEmpty else { throw APNsTransportError("\(path) is empty") }
    let found = Content(path: target.path, text: text)
    stamp = present
    defer { content = found }
    return found == content ? nil : found
  }

  private func currentStamp() throws -> Stamp {
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw APNsTransportError("\(path): \(String(cString: strerror(errno)))")
    }
    return Stamp(
      device: UInt(status.st_dev), inode: UInt(status.st_ino), size: Int(status.st_size),
      seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec)
  }
}

import Foundation
import Glibc

/// A file whose path somebody gave, read as a whole; a pipe or a device will do too.
package enum GivenFile {
  package struct Unreadable: Error, CustomStringConvertible {
    package let description: String

    /// With the system's reason for what has just failed.
    fileprivate init() { description = "cannot be read: \(String(cString: strerror(errno)))" }
  }

  private static let chunk_bytes = 64 * 1024

  /// - Parameter path: the file's path.
  /// - Returns: all that is in it.
  /// - Throws: ``Unreadable`` with the system's reason, in words that follow the path.
  package static func contents(_ path: String) throws(Unreadable) -> Data {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Unreadable() }
    defer { close(descriptor) }
    var data = Data()
    var chunk = [UInt8](repeating: 0, count: chunk_bytes)
    while true {
      let count = read(descriptor, &chunk, chunk_bytes)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Unreadable() }
      guard count > 0 else { return data }
      data.append(contentsOf: chunk[..<count])
    }
  }
}

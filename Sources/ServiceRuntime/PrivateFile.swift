import Foundation
import Glibc

/// Files that may hold tokens, keys or what people wrote: their owner alone may read them, whatever
/// the umask lets through. One that is there keeps its mode.
package enum PrivateFile {
  /// Makes a file that is not there yet, for writing.
  ///
  /// - Returns: its descriptor; -1 when it cannot be made, and `errno` says why.
  package static func create(_ path: String) -> Int32 {
    open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  }

  /// Makes the file or replaces what is in it.
  ///
  /// - Throws: what the system said, with the path.
  package static func write(_ data: Data, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw PrivateFileError(path: path, code: errno) }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    try handle.write(contentsOf: data)
  }
}

/// Why a file could not be made.
package struct PrivateFileError: Error, CustomStringConvertible {
  let path: String
  let code: Int32

  package var description: String { "\(path): \(String(cString: strerror(code)))" }
}

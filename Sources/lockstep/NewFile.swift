import Foundation
import ServiceRuntime

/// A file that a command makes, readable by its owner only. Never over one that is there.
struct NewFile {
  private let handle: FileHandle
  private let complaint: String

  /// `option`: what named it, for messages.
  init(_ path: String, option: String) throws {
    complaint = "\(option) \(path)"
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(.unavailable, "\(complaint): \(String(cString: strerror(errno)))")
    }
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  func write(_ data: Data) throws {
    try attempt { try handle.write(contentsOf: data) }
  }

  /// Brings everything to the disk.
  func finish() throws {
    try attempt { try handle.synchronize() }
  }

  private func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      throw CommandFailure(.unavailable, "\(complaint): \(error)")
    }
  }
}

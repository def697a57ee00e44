import Foundation
import ServiceRuntime

/// A file that a command makes, readable by its owner only. Never over one that is there.
struct NewFile {
  private let path: String
  private let handle: FileHandle
  private let complaint: String

  /// `option`: what named it, for messages.
  init(_ path: String, option: String) throws {
    complaint = "\(option) \(path)"
    let descriptor = PrivateFile.create(path)
    guard descriptor >= 0 else {
      throw CommandFailure(.unavailable, "\(complaint): \(String(cString: strerror(errno)))")
    }
    self.path = path
    handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
  }

  func write(_ data: Data) throws {
    try attempt { try handle.write(contentsOf: data) }
  }

  /// Brings everything to the disk.
  func finish() throws {
    try attempt { try handle.synchronize() }
  }

  /// Takes it away again: a command that failed leaves no file that is empty or half.
  func discard() { unlink(path) }

  private func attempt(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch {
      throw CommandFailure(.unavailable, "\(complaint): \(error)")
    }
  }
}

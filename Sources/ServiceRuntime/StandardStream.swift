import Glibc
import Synchronization

/// Where a program's words go: its log and what it says to people, and what it prints.
///
/// What cannot be written is dropped: a disk that is full, or a reader that has gone, must not end
/// a process that does its work.
package final class StandardStream: Sendable {
  package static let output = StandardStream(descriptor: 1)
  package static let error = StandardStream(descriptor: 2)

  private let descriptor: Int32
  /// Whether the last octet that was taken is in the midst of a text whose rest was dropped. Held
  /// while one writes, so that no other line comes between the parts of this one.
  private let isCutShort = Mutex(false)

  package init(descriptor: Int32) { self.descriptor = descriptor }

  /// In as few calls as the system allows, one for a line, so that lines of several processes do
  /// not mix. After a text that was cut short it begins on a new line: only that one is lost.
  ///
  /// - Returns: whether all of it was written.
  @discardableResult
  package func write(_ text: String) -> Bool {
    isCutShort.withLock { isCutShort in
      var text = isCutShort ? "\n" + text : text
      return text.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)
        while !rest.isEmpty {
          let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { return false }
          isCutShort = count < rest.count && rest[count - 1] != UInt8(ascii: "\n")
          rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return true
      }
    }
  }
}

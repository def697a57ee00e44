import Glibc

/// Where a program's words go: its log and what it says to people, and what it prints.
///
/// What cannot be written is dropped: a disk that is full, or a reader that has gone, must not end
/// a process that does its work.
package enum StandardStream: Int32, Sendable {
  case output = 1
  case error = 2

  @discardableResult
  package func write(_ text: String) -> Bool { Self.write(text, to: rawValue) }

  /// In as few calls as the system allows, one for a line, so that lines of several threads do not
  /// mix.
  ///
  /// - Returns: whether all of it was written.
  @discardableResult
  package static func write(_ text: String, to descriptor: Int32) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
      }
      return true
    }
  }
}

import Foundation

/// Reads a recording line by line, in bounded memory.
struct LineReader: ~Copyable {
  /// The longest line that is read; a longer one is passed over.
  static let line_bytes_max = 4 * 1024 * 1024
  private static let newline = UInt8(ascii: "\n")

  struct Line {
    /// Counts from 1.
    let number: Int
    /// Without the newline; nil when it was longer than ``line_bytes_max``.
    let text: Data?
  }

  private var source: GzipReader
  private var buffer = Data()
  /// What of `buffer` is still to be read begins here.
  private var start = 0
  private var number = 0
  private var isTooLong = false
  private var hasEnded = false
  /// A last line without its newline was left out: the file was cut within it.
  private(set) var cutLine: Int?

  init(_ source: consuming GzipReader) { self.source = source }

  /// Reads a file.
  ///
  /// - Throws: ``RecordingUnreadable`` when it cannot be opened or read.
  init(path: String) throws(RecordingUnreadable) {
    guard let handle = FileHandle(forReadingAtPath: path) else {
      throw RecordingUnreadable("\(path): cannot be opened")
    }
    source = GzipReader { try handle.read(upToCount: 64 * 1024) ?? Data() }
  }

  /// Why the reading ended before the end of the stream; nil when it did not.
  var trouble: GzipReader.Trouble? { source.trouble }

  /// The number of the line that was read last; 0 before the first.
  var lineNumber: Int { number }

  /// Nil at the end.
  mutating func next() throws(RecordingUnreadable) -> Line? {
    while true {
      if let end = buffer[start...].firstIndex(of: Self.newline) {
        let text = Data(buffer[start..<end])
        start = end + 1
        return line(text)
      }
      buffer = Data(buffer[start...])
      start = 0
      if buffer.count > Self.line_bytes_max {
        buffer = Data()
        isTooLong = true
      }
      guard let piece = try piece() else { return last() }
      buffer.append(piece)
    }
  }

  private mutating func line(_ text: Data) -> Line {
    number += 1
    defer { isTooLong = false }
    let fits = !isTooLong && text.count <= Self.line_bytes_max
    return Line(number: number, text: fits ? text : nil)
  }

  /// A last line that lacks only its newline is whole; one of a stream that was cut is not.
  private mutating func last() -> Line? {
    guard !buffer.isEmpty || isTooLong, !hasEnded else { return nil }
    hasEnded = true
    let text = buffer
    buffer = Data()
    guard source.trouble == nil else {
      cutLine = number + 1
      return nil
    }
    return line(text)
  }

  private mutating func piece() throws(RecordingUnreadable) -> Data? {
    do {
      return try source.next()
    } catch {
      throw RecordingUnreadable("cannot be read: \(error)")
    }
  }
}

/// A recording that nothing can be read of.
package struct RecordingUnreadable: Error, Hashable, CustomStringConvertible {
  package let description: String
  init(_ description: String) { self.description = description }
}

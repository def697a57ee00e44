import Foundation
import Vocabulary

/// Reads a recording from begin to end in bounded memory. What is wrong with a line is told, and
/// the rest is read.
package struct RecordingReader: ~Copyable {
  /// Something wrong with the file.
  package struct Note: Hashable, Sendable, CustomStringConvertible {
    /// Counts from 1.
    package let line: Int
    package let what: String
    package var description: String { "line \(line): \(what)" }
  }

  private var lines: LineReader
  private var hasHeader = false
  private var hasEnd = false
  private var isOver = false
  private let onNote: (Note) -> Void

  /// - Throws: ``RecordingUnreadable`` when the file cannot be opened.
  package init(path: String, onNote: @escaping (Note) -> Void) throws(RecordingUnreadable) {
    lines = try LineReader(path: path)
    self.onNote = onNote
  }

  /// Reads what is in memory.
  package init(_ bytes: Data, onNote: @escaping (Note) -> Void) {
    var rest = bytes[...]
    lines = LineReader(
      GzipReader {
        defer { rest = rest.dropFirst(Self.piece_bytes) }
        return Data(rest.prefix(Self.piece_bytes))
      })
    self.onNote = onNote
  }

  private static let piece_bytes = 64 * 1024

  /// The next line that can be used; nil at the end.
  ///
  /// - Throws: ``RecordingUnreadable`` when the file cannot be read on.
  package mutating func next() throws(RecordingUnreadable) -> RecordedLine? {
    while let line = try lines.next() {
      guard let text = line.text else {
        note(line.number, "is longer than \(LineReader.line_bytes_max) bytes")
        continue
      }
      if text.isEmpty { continue }
      do throws(BrokenLine) {
        let read = try RecordedLine(reading: text)
        look(at: read, line.number)
        return read
      } catch {
        note(line.number, error.description)
      }
    }
    end()
    return nil
  }

  private mutating func look(at line: RecordedLine, _ number: Int) {
    hasEnd = false
    switch line {
    case .header(let header):
      hasHeader = true
      if !(RecordingHeader.versionMin...RecordingHeader.versionNow).contains(header.version) {
        let age = header.version < RecordingHeader.versionMin ? "older" : "newer"
        note(
          number,
          "is written in the \(age) version \(header.version), this program reads version "
            + "\(RecordingHeader.versionNow); what it cannot read is named")
      }
    case .end: hasEnd = true
    case .user, .event:
      if !hasHeader {
        hasHeader = true
        note(number, "no header stands before it")
      }
    case .missed(let count, let reason):
      note(number, "\(count) events are missing before the next line: \(reason)")
    }
  }

  private mutating func end() {
    guard !isOver else { return }
    isOver = true
    if let line = lines.cutLine { note(line, "is cut") }
    switch lines.trouble {
    case .cutOff: note(lines.lineNumber, "is the last whole one: the compressed file is cut")
    case .damaged(let reason):
      note(lines.lineNumber, "is the last that can be read: the file is damaged (\(reason))")
    case nil:
      if !hasEnd, lines.lineNumber > 0 {
        note(lines.lineNumber, "is the last; no end follows: the recorder did not stop in order")
      }
    }
  }

  private func note(_ line: Int, _ what: String) { onNote(Note(line: line, what: what)) }
}

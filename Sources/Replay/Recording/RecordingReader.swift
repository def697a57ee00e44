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
      if header.version != RecordingHeader.versionNow {
        let age = header.version < RecordingHeader.versionNow ? "older" : "newer"
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

/// What a recording holds, found by reading it once.
package struct RecordingSummary: Hashable, Sendable {
  /// Users beyond it get no phone.
  package static let usersMax = 20_000
  /// Notes beyond it are only counted.
  package static let notesMax = 50

  package private(set) var header: RecordingHeader?
  /// In the order they appear.
  package private(set) var users: [RecordedUser] = []
  package private(set) var usersLeftOut = 0
  /// Those that are played: of sessions.
  package private(set) var events = 0
  package private(set) var first: UnixTime?
  package private(set) var last: UnixTime?
  package private(set) var notes: [RecordingReader.Note] = []
  package private(set) var noteCount = 0

  package var span: Duration {
    guard let first, let last else { return .zero }
    return max(.zero, last - first)
  }

  package init() {}

  /// - Throws: ``RecordingUnreadable``.
  package init(path: String) throws(RecordingUnreadable) {
    self.init()
    let noted = Noted()
    var reader = try RecordingReader(path: path) { noted.take($0) }
    var known: Set<UserID> = []
    while let line = try reader.next() { take(line, &known) }
    notes = noted.notes
    noteCount = noted.count
  }

  private final class Noted {
    var notes: [RecordingReader.Note] = []
    var count = 0
    func take(_ note: RecordingReader.Note) {
      count += 1
      if notes.count < RecordingSummary.notesMax { notes.append(note) }
    }
  }

  private mutating func take(_ line: RecordedLine, _ known: inout Set<UserID>) {
    switch line {
    case .header(let header): self.header = self.header ?? header
    case .user(let user): take(user, &known)
    case .event(let event):
      guard case .session = event.subject else { return }
      events += 1
      first = first ?? event.at
      last = event.at
      // A line that told of the user may be broken.
      for user in event.users {
        take(
          RecordedUser(
            user: user, tokens: RecordedUser.usualTokens, assumed: true, locale: nil), &known)
      }
    case .missed, .end: break
    }
  }

  private mutating func take(_ user: RecordedUser, _ known: inout Set<UserID>) {
    guard known.insert(user.user).inserted else { return }
    guard users.count < Self.usersMax else {
      usersLeftOut += 1
      return
    }
    users.append(user)
  }
}

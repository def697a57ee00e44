import Foundation
import Testing

@testable import Replay

@Suite struct GzipTests {
  private static let lines = (1...200).map { "line \($0) " + String(repeating: "x", count: $0) }

  private func packed(_ lines: [String], finishes: Bool = true) throws -> Data {
    let pieces = Pieces()
    let writer = GzipWriter { pieces.data += $0 }
    for line in lines { try writer.add(Data("\(line)\n".utf8)) }
    if finishes { try writer.finish() } else { try writer.flush() }
    return pieces.data
  }

  private final class Pieces {
    var data = Data()
  }

  /// Hands out `data` in pieces of so many bytes.
  private func reader(_ data: Data, by count: Int = 1000) -> LineReader {
    var rest = data[...]
    return LineReader(
      GzipReader {
        defer { rest = rest.dropFirst(count) }
        return Data(rest.prefix(count))
      })
  }

  private func read(_ data: Data, by count: Int = 1000) throws -> (
    lines: [String], trouble: GzipReader.Trouble?, cut: Int?
  ) {
    var reader = reader(data, by: count)
    var lines: [String] = []
    while let line = try reader.next() {
      lines.append(String(decoding: line.text ?? Data(), as: UTF8.self))
    }
    return (lines, reader.trouble, reader.cutLine)
  }

  @Test(arguments: [1, 7, 1000, 1_000_000]) func `what was written is read`(count: Int) throws {
    let read = try read(packed(Self.lines), by: count)
    #expect(read.lines == Self.lines)
    #expect(read.trouble == nil && read.cut == nil)
  }

  @Test func `a stream cut at any byte gives its whole lines, and says that it is cut`() throws {
    let data = try packed(Self.lines)
    for length in 1..<data.count {
      let read = try read(data.prefix(length))
      #expect(Self.lines.starts(with: read.lines), "cut after \(length) bytes")
      #expect(read.trouble == .cutOff, "cut after \(length) bytes")
    }
  }

  @Test func `everything before a flush is read from a stream without an end`() throws {
    let read = try read(packed(Self.lines, finishes: false))
    #expect(read.lines == Self.lines)
    #expect(read.trouble == .cutOff)
  }

  @Test func `two streams one after the other read as one`() throws {
    let read = try read(packed(["a", "b"]) + packed(["c"]))
    #expect(read.lines == ["a", "b", "c"])
    #expect(read.trouble == nil)
  }

  @Test func `plain text is read as it is`() throws {
    #expect(try read(Data("a\nb\nlast".utf8), by: 2).lines == ["a", "b", "last"])
    #expect(try read(Data()).lines.isEmpty)
  }

  @Test func `a damaged stream gives what came before, and says why it ends`() throws {
    var data = try packed((0..<5000).map { "\($0) \($0 * 7919)" })
    for place in data.count / 2..<data.count / 2 + 40 { data[place] ^= 0x5A }
    let read = try read(data)
    #expect(!read.lines.isEmpty)
    guard case .damaged? = read.trouble else {
      Issue.record("trouble is \(String(describing: read.trouble)), want damaged")
      return
    }
  }

  @Test func `a line that is too long is passed over, and the next is read`() throws {
    let long = String(repeating: "y", count: LineReader.line_bytes_max + 10)
    var reader = reader(Data("a\n\(long)\nb\n".utf8), by: 60_000)
    var texts: [String?] = []
    while let line = try reader.next() {
      texts.append(line.text.map { String(decoding: $0, as: UTF8.self) })
    }
    // Without the long one in the message.
    #expect(texts.map { $0.map { $0.prefix(5) } } == ["a", nil, "b"])
  }
}

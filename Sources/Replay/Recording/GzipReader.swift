import CZlib
import Foundation

/// Expands a gzip stream, or passes on plain text, piece by piece. Several streams one after the
/// other read as one.
struct GzipReader: ~Copyable {
  /// What ended the reading before the end of the stream.
  enum Trouble: Hashable {
    /// The file ends within the stream: its writer was killed, or the copy is cut.
    case cutOff
    case damaged(String)
  }

  private static let piece_bytes = 64 * 1024

  private let read: () throws -> Data
  private let stream: UnsafeMutablePointer<z_stream>
  /// Read from the file and not expanded yet.
  private var waiting = Data()
  private var isPlain: Bool?
  private var hasEnded = false
  private var isWithinStream = false
  private(set) var trouble: Trouble?

  /// `read` gives the file's next piece, empty at its end.
  init(read: @escaping () throws -> Data) {
    self.read = read
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let code = inflateInit2_(stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    precondition(code == Z_OK, "zlib does not start: \(code)")
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
  }

  /// The next expanded piece; nil at the end, or after ``trouble``.
  mutating func next() throws -> Data? {
    while !hasEnded {
      if waiting.isEmpty {
        waiting = try read()
        guard !waiting.isEmpty else {
          hasEnded = true
          if isWithinStream { trouble = .cutOff }
          return nil
        }
      }
      // 1f is no text; a file that does not begin with it was written without compression.
      if isPlain == nil { isPlain = waiting.first != 0x1F }
      if isPlain == true {
        defer { waiting = Data() }
        return waiting
      }
      let piece = expand()
      if !piece.isEmpty { return piece }
    }
    return nil
  }

  private mutating func expand() -> Data {
    var room = [UInt8](repeating: 0, count: Self.piece_bytes)
    var code: Int32 = Z_OK
    let (taken, made) = waiting.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) -> (Int, Int) in
      room.withUnsafeMutableBufferPointer { target -> (Int, Int) in
        stream.pointee.next_in = UnsafeMutablePointer(
          mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(bytes.count)
        stream.pointee.next_out = target.baseAddress
        stream.pointee.avail_out = UInt32(target.count)
        code = inflate(stream, Z_NO_FLUSH)
        return (
          bytes.count - Int(stream.pointee.avail_in), target.count - Int(stream.pointee.avail_out)
        )
      }
    }
    waiting = Data(waiting.dropFirst(taken))
    isWithinStream = true
    switch code {
    case Z_OK, Z_BUF_ERROR: break
    case Z_STREAM_END:
      isWithinStream = false
      inflateReset(stream)
    default:
      trouble = .damaged(stream.pointee.msg.map { String(cString: $0) } ?? "zlib says \(code)")
      hasEnded = true
    }
    return Data(room[..<made])
  }
}

import CZlib
import Foundation

/// Compresses lines into a gzip stream (RFC 1952) piece by piece.
///
/// After each ``flush()`` what was written so far can be read, though the stream has no end yet: a
/// recorder that is killed loses only what came after its last flush.
struct GzipWriter: ~Copyable {
  private static let piece_bytes = 64 * 1024
  /// gzip's own header and checksum; 15 bits are the largest window.
  private static let windowBits: Int32 = 15 + 16

  private let stream: UnsafeMutablePointer<z_stream>
  private let write: (Data) throws -> Void

  /// `write` is given the compressed pieces.
  init(write: @escaping (Data) throws -> Void) {
    self.write = write
    stream = .allocate(capacity: 1)
    stream.initialize(to: z_stream())
    let code = deflateInit2_(
      stream, 6, Z_DEFLATED, Self.windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    precondition(code == Z_OK, "zlib does not start: \(code)")
  }

  deinit {
    deflateEnd(stream)
    stream.deallocate()
  }

  func add(_ data: Data) throws { try compress(data, Z_NO_FLUSH) }

  /// Brings everything added so far out.
  func flush() throws { try compress(Data(), Z_SYNC_FLUSH) }

  /// Ends the stream; nothing may be added afterwards.
  func finish() throws { try compress(Data(), Z_FINISH) }

  private func compress(_ data: Data, _ mode: Int32) throws {
    var pieces: [Data] = []
    data.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
      stream.pointee.next_in = UnsafeMutablePointer(
        mutating: bytes.bindMemory(to: UInt8.self).baseAddress)
      stream.pointee.avail_in = UInt32(bytes.count)
      var room = [UInt8](repeating: 0, count: Self.piece_bytes)
      var isFull = true
      while isFull {
        let count = room.withUnsafeMutableBufferPointer { target -> Int in
          stream.pointee.next_out = target.baseAddress
          stream.pointee.avail_out = UInt32(target.count)
          // Without room left it only says so; the next round goes on.
          deflate(stream, mode)
          return target.count - Int(stream.pointee.avail_out)
        }
        if count > 0 { pieces.append(Data(room[..<count])) }
        isFull = stream.pointee.avail_out == 0
      }
      stream.pointee.next_in = nil
    }
    for piece in pieces { try write(piece) }
  }
}

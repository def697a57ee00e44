import CMicroHTTPD
import Foundation
import Synchronization

/// A streamed answer on its way. Only its connection's thread touches it.
final class OpenStream {
  private let service: Service
  private let next: @Sendable () -> StreamChunk
  private var rest = Data()

  /// How much is handed to the library at once.
  static let blockBytes = 16 * 1024

  init(service: Service, next: @escaping @Sendable () -> StreamChunk) {
    self.service = service
    self.next = next
  }

  /// - Returns: the library's answer, which owns `stream`.
  static func response(_ stream: OpenStream) -> OpaquePointer? {
    MHD_create_response_from_callback(
      // MHD_SIZE_UNKNOWN
      .max, blockBytes, readStream, Unmanaged.passRetained(stream).toOpaque(), freeStream)
  }

  /// - Returns: how many octets were written to `buffer`; 0 to be asked again; -1 at the end.
  fileprivate func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    if rest.isEmpty {
      guard !service.draining.load(ordering: .acquiring) else { return endOfStream }
      switch next() {
      case .data(let data): rest = data
      case .wait: return 0
      case .end: return endOfStream
      }
    }
    let count = rest.copyBytes(to: buffer)
    rest = rest.count == count ? Data() : Data(rest.dropFirst(count))
    return count
  }
}

/// MHD_CONTENT_READER_END_OF_STREAM
private let endOfStream = -1

private let readStream: MHD_ContentReaderCallback = { context, _, buffer, size in
  guard let context, let buffer else { return endOfStream }
  return Unmanaged<OpenStream>.fromOpaque(context).takeUnretainedValue()
    .read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
}

private let freeStream: MHD_ContentReaderFreeCallback = { context in
  if let context { Unmanaged<OpenStream>.fromOpaque(context).release() }
}

import CNghttp2
import Foundation

/// One request on a client's connection, from its submission until the stream is closed. Used again
/// for later requests.
package final class ClientStream {
  /// More of an answer's body is cut off.
  static let answerBytesMax = 65_536

  package internal(set) var id: Int32 = 0
  /// The owner's name for the request.
  package internal(set) var tag = 0
  var isLive = false
  /// The last byte of the request was handed to TLS.
  var isSent = false
  /// The answer's last byte is here.
  var isComplete = false
  /// The owner knows how it ended, or does not want to know.
  var isSettled = false
  var headers = HeaderBlock()
  var answer = Data()
  private var body = Data()
  private var taken = 0

  func begin(tag: Int, body: Data) {
    self.tag = tag
    self.body = body
    taken = 0
    isLive = true
    isSent = body.isEmpty
    isComplete = false
    isSettled = false
    headers.removeAll()
    if !answer.isEmpty { answer = Data() }
  }

  func end() {
    isLive = false
    body = Data()
  }

  /// The answer's `:status`; nil before it came. Of interim ones (1xx) nothing is kept.
  var status: Int? {
    headers.withValue(of: ":status") { digits in
      guard let digits, !digits.isEmpty else { return nil }
      return digits.reduce(0) { $0 * 10 + Int($1) - 48 }
    }
  }

  fileprivate func takeBody(into buffer: UnsafeMutablePointer<UInt8>, room: Int) -> Int {
    let count = min(room, body.count - taken)
    let start = body.startIndex + taken
    body.copyBytes(to: buffer, from: start..<start + count)
    taken += count
    isSent = taken == body.count
    return count
  }
}

let readBody: nghttp2_data_source_read_callback = { _, _, buffer, room, flags, source, _ in
  guard let buffer, let pointer = source?.pointee.ptr else {
    return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
  }
  let stream = Unmanaged<ClientStream>.fromOpaque(pointer).takeUnretainedValue()
  let count = stream.takeBody(into: buffer, room: room)
  if stream.isSent { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
  return count
}

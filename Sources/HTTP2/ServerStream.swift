import CNghttp2
import Foundation

/// One request on one connection, from its first header to the end of its answer.
final class ServerStream {
  /// Larger bodies are reset: four times what APNs takes.
  static let bodyBytesMax = 65_536

  let id: Int32
  var headers = HeaderBlock()
  var body = Data()
  private var answer = Data()
  private var answered = 0

  init(id: Int32) { self.id = id }

  /// Hands the answer over; `writer` is scratch memory.
  ///
  func submit(
    _ response: HTTP2Response, to session: OpaquePointer, writer: HeaderWriter
  ) -> Int32 {
    writer.removeAll()
    writer.append(":status", String(response.status))
    for (name, value) in response.headers { writer.append(name, value) }
    guard !response.body.isEmpty else {
      return nghttp2_submit_response(session, id, writer.pointer, writer.count, nil)
    }
    answer = response.body
    var provider = nghttp2_data_provider()
    provider.source.ptr = Unmanaged.passUnretained(self).toOpaque()
    provider.read_callback = readAnswer
    return nghttp2_submit_response(session, id, writer.pointer, writer.count, &provider)
  }

  /// Copies the next part of the answer's body.
  ///
  /// - Returns: how many bytes, and whether they were the last.
  func takeAnswer(into buffer: UnsafeMutablePointer<UInt8>, room: Int) -> (count: Int, isLast: Bool)
  {
    let count = min(room, answer.count - answered)
    let start = answer.startIndex + answered
    answer.copyBytes(to: buffer, from: start..<start + count)
    answered += count
    return (count, answered == answer.count)
  }
}

private let readAnswer: nghttp2_data_source_read_callback = {
  _, _, buffer, room, flags, source, _ in
  guard let buffer, let pointer = source?.pointee.ptr else {
    return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue)
  }
  let stream = Unmanaged<ServerStream>.fromOpaque(pointer).takeUnretainedValue()
  let (count, isLast) = stream.takeAnswer(into: buffer, room: room)
  if isLast { flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
  return count
}

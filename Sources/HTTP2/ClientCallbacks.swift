import CNghttp2
import Foundation

// What nghttp2 calls while a client reads. Formed at file scope, where they belong to no actor.

/// Made once and never freed; nghttp2 only reads it.
nonisolated(unsafe) let clientCallbacks: OpaquePointer? = {
  var callbacks: OpaquePointer?
  nghttp2_session_callbacks_new(&callbacks)
  nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onStreamClose)
  return callbacks
}()

private func clientStream(_ session: OpaquePointer?, _ id: Int32) -> ClientStream? {
  nghttp2_session_get_stream_user_data(session, id).map {
    Unmanaged<ClientStream>.fromOpaque($0).takeUnretainedValue()
  }
}

private func client(_ user: UnsafeMutableRawPointer?) -> HTTP2Client? {
  user.map { Unmanaged<HTTP2Client>.fromOpaque($0).takeUnretainedValue() }
}

private let onHeader: nghttp2_on_header_callback = {
  session, frame, name, nameCount, value, valueCount, _, _ in
  guard let frame, let name, let value,
    let stream = clientStream(session, frame.pointee.hd.stream_id)
  else { return 0 }
  // A second `:status` means that the first was interim.
  if nameCount == 7, name[0] == 0x3A, !stream.headers.isEmpty { stream.headers.removeAll() }
  stream.headers.append(name: name, count: nameCount, value: value, count: valueCount)
  return 0
}

private let onData: nghttp2_on_data_chunk_recv_callback = { session, _, id, data, count, _ in
  guard let data, let stream = clientStream(session, id) else { return 0 }
  let room = ClientStream.answerBytesMax - stream.answer.count
  if room > 0 { stream.answer.append(data, count: min(count, room)) }
  return 0
}

private let onFrame: nghttp2_on_frame_recv_callback = { session, frame, user in
  guard let frame else { return 0 }
  let header = frame.pointee.hd
  switch nghttp2_frame_type(UInt32(header.type)) {
  case NGHTTP2_HEADERS, NGHTTP2_DATA:
    guard UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 else { return 0 }
    clientStream(session, header.stream_id)?.isComplete = true
  case NGHTTP2_SETTINGS: client(user)?.settingsArrived()
  case NGHTTP2_GOAWAY:
    let frame = frame.pointee.goaway
    let debug = UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
    client(user)?.goAwayArrived(
      code: frame.error_code, debug: String(decoding: debug.prefix(200), as: UTF8.self))
  case NGHTTP2_PING:
    guard UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0 else { return 0 }
    client(user)?.pingAnswered()
  default: break
  }
  return 0
}

private let onStreamClose: nghttp2_on_stream_close_callback = { session, id, code, user in
  guard let stream = clientStream(session, id) else { return 0 }
  client(user)?.streamClosed(stream, code: code)
  return 0
}

import CNghttp2
import Foundation

// What nghttp2 calls on the server's thread. Formed at file scope, where they belong to no actor.

/// Made once and never freed; nghttp2 only reads it.
nonisolated(unsafe) let serverCallbacks: OpaquePointer? = {
  var callbacks: OpaquePointer?
  nghttp2_session_callbacks_new(&callbacks)
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, onBeginHeaders)
  nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onData)
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onStreamClose)
  return callbacks
}()

/// APNs-like clients may reset many streams; the library's own limit (1000, then 33 a second)
/// would end their connections.
nonisolated(unsafe) let serverOptions: OpaquePointer? = {
  var options: OpaquePointer?
  nghttp2_option_new(&options)
  nghttp2_option_set_stream_reset_rate_limit(options, 1_000_000, 1_000_000)
  return options
}()

private func connection(_ user: UnsafeMutableRawPointer?) -> ServerConnection? {
  user.map { Unmanaged<ServerConnection>.fromOpaque($0).takeUnretainedValue() }
}

private let onBeginHeaders: nghttp2_on_begin_headers_callback = { _, frame, user in
  guard let frame, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
  connection(user)?.beginStream(frame.pointee.hd.stream_id)
  return 0
}

private let onHeader: nghttp2_on_header_callback = {
  _, frame, name, nameCount, value, valueCount, _, user in
  guard let frame, let name, let value else { return 0 }
  connection(user)?.stream(frame.pointee.hd.stream_id)?.headers.append(
    name: name, count: nameCount, value: value, count: valueCount)
  return 0
}

private let onData: nghttp2_on_data_chunk_recv_callback = {
  session, _, streamID, data, count, user in
  guard let data, let stream = connection(user)?.stream(streamID) else { return 0 }
  guard stream.body.count + count <= ServerStream.bodyBytesMax else {
    return nghttp2_submit_rst_stream(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), streamID, NGHTTP2_CANCEL.rawValue)
  }
  stream.body.append(data, count: count)
  return 0
}

private let onFrame: nghttp2_on_frame_recv_callback = { _, frame, user in
  guard let header = frame?.pointee.hd else { return 0 }
  let isRequestPart =
    UInt32(header.type) == NGHTTP2_HEADERS.rawValue || UInt32(header.type) == NGHTTP2_DATA.rawValue
  if isRequestPart, UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0 {
    connection(user)?.requestEnded(header.stream_id)
  }
  return 0
}

private let onStreamClose: nghttp2_on_stream_close_callback = { _, streamID, _, user in
  connection(user)?.endStream(streamID)
  return 0
}

import CLinux
import CMicroHTTPD
import Glibc

// What the library calls, on its own threads. The first argument is the service, kept alive by the
// server; exchanges and connections are retained from their first call to their last.

let connectionChanged: MHD_NotifyConnectionCallback = { context, handle, slot, change in
  guard let context, let handle, let slot else { return }
  let service = Unmanaged<Service>.fromOpaque(context).takeUnretainedValue()
  if change == .CONNECTION_NOTIFY_STARTED {
    let connection = OpenConnection(socket: lockstep_connection_socket(handle))
    service.connections.add(connection)
    slot.pointee = Unmanaged.passRetained(connection).toOpaque()
  } else if let opened = slot.pointee {
    service.connections.remove(Unmanaged<OpenConnection>.fromOpaque(opened).takeRetainedValue())
    slot.pointee = nil
  }
}

let requestBegan: lockstep_uri_callback = { context, target, handle in
  guard let context, let handle, let target, let opened = lockstep_connection_context(handle) else {
    return nil
  }
  let service = Unmanaged<Service>.fromOpaque(context).takeUnretainedValue()
  let connection = Unmanaged<OpenConnection>.fromOpaque(opened).takeUnretainedValue()
  connection.requestBegan()
  let exchange = Exchange(
    service: service, connection: connection, rawTarget: String(cString: target))
  return Unmanaged.passRetained(exchange).toOpaque()
}

let handleRequest: MHD_AccessHandlerCallback = {
  _, handle, _, method, version, piece, size, slot in
  guard let handle, let method, let version, let size, let slot = slot?.pointee else { return .NO }
  let exchange = Unmanaged<Exchange>.fromOpaque(slot).takeUnretainedValue()
  let result = exchange.advance(
    on: handle, method: String(cString: method), version: String(cString: version),
    piece: UnsafeRawBufferPointer(start: piece, count: size.pointee))
  size.pointee = 0
  return result
}

let requestEnded: MHD_RequestCompletedCallback = { _, handle, slot, _ in
  if let exchange = slot?.pointee {
    Unmanaged<Exchange>.fromOpaque(exchange).release()
    slot?.pointee = nil
  }
  if let handle, let opened = lockstep_connection_context(handle) {
    Unmanaged<OpenConnection>.fromOpaque(opened).takeUnretainedValue().requestEnded()
  }
}

/// All header fields, names in lower case, in the order sent.
func headerFields(of handle: OpaquePointer) -> [(name: String, value: String)] {
  var fields: [(name: String, value: String)] = []
  withUnsafeMutablePointer(to: &fields) {
    _ = MHD_get_connection_values_n(handle, .HEADER_KIND, collectField, $0)
  }
  return fields
}

private let collectField: MHD_KeyValueIteratorN = {
  context, _, name, nameBytes, value, valueBytes in
  let fields = context?.assumingMemoryBound(to: [(name: String, value: String)].self)
  fields?.pointee.append((text(name, nameBytes).lowercased(), text(value, valueBytes)))
  return .YES
}

private func text(_ start: UnsafePointer<CChar>?, _ count: Int) -> String {
  String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
}

/// The peer's numeric address without the port; empty when the library does not know it.
func peerAddress(of handle: OpaquePointer) -> String {
  guard let peer = lockstep_connection_peer(handle) else { return "" }
  var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
  let length =
    peer.pointee.sa_family == sa_family_t(AF_INET6)
    ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size
  let code = getnameinfo(
    peer, socklen_t(length), &host, socklen_t(host.count), nil, 0, Int32(NI_NUMERICHOST))
  guard code == 0 else { return "" }
  return String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}

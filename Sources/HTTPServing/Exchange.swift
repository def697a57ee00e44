import CMicroHTTPD
import Foundation
import ServiceRuntime
import Synchronization

/// One request while it comes in. Only the thread that serves its connection touches it.
final class Exchange {
  private let service: Service
  private let connection: OpenConnection
  private let rawTarget: String
  private var isBegun = false
  private var target: RequestTarget?
  private var headers: [(name: String, value: String)] = []
  private var body = Data()
  private var bodyBytes = 0
  private var id = ""

  init(service: Service, connection: OpenConnection, rawTarget: String) {
    self.service = service
    self.connection = connection
    self.rawTarget = rawTarget
  }

  /// Called once with the header, then for each piece of the body, then once more at its end.
  /// The first and the last time `piece` is empty.
  func advance(
    on handle: OpaquePointer, method: String, version: String, piece: UnsafeRawBufferPointer
  ) -> MHD_Result {
    if !isBegun {
      isBegun = true
      connection.headEnded()
      do throws(HTTPRefusal) {
        try begin(on: handle, version: version)
        return .YES
      } catch {
        return refuse(error, on: handle)
      }
    }
    if !piece.isEmpty { return take(piece) }
    guard bodyBytes <= service.limits.bodyBytesMax else {
      return refuse(.bodyTooLarge(bytesMax: service.limits.bodyBytesMax), on: handle)
    }
    guard let target else { return .NO }
    connection.handlerBegan()
    let request = HTTPRequest(
      method: method, target: target, headers: headers, body: body, id: id,
      remoteAddress: peerAddress(of: handle))
    return answer(service.handler(request), on: handle)
  }

  private func begin(on handle: OpaquePointer, version: String) throws(HTTPRefusal) {
    headers = headerFields(of: handle)
    id = RequestID.taken(from: headers.first { $0.name == "x-request-id" }?.value)
    guard lockstep_connection_header_bytes(handle) <= service.limits.headerBytesMax else {
      throw .headerTooLarge(bytesMax: service.limits.headerBytesMax)
    }
    let framing = try RequestFraming(version: version, headers: headers, limits: service.limits)
    guard let target = RequestTarget(rawTarget) else {
      throw .malformed("The request's target must be a path of percent-encoded UTF-8.")
    }
    self.target = target
    body.reserveCapacity(framing.contentLength ?? 0)
  }

  private func take(_ piece: UnsafeRawBufferPointer) -> MHD_Result {
    let bytesMax = service.limits.bodyBytesMax
    bodyBytes += piece.count
    if bodyBytes <= bytesMax {
      body.append(contentsOf: piece)
    } else if bodyBytes > bytesMax * Service.discardedBodiesMax {
      return .NO
    }
    return .YES
  }

  private func refuse(_ refusal: HTTPRefusal, on handle: OpaquePointer) -> MHD_Result {
    service.log.info(
      "http.refused", ["status": "\(refusal.status)", "detail": "\(refusal)", "request_id": id])
    return answer(service.refusal(refusal), on: handle, closing: true)
  }

  private func answer(_ given: HTTPResponse, on handle: OpaquePointer, closing: Bool = false)
    -> MHD_Result
  {
    var answer = given
    var isLast = closing || service.draining.load(ordering: .acquiring)
    if case (.stream, .pool) = (answer.body, service.threading) {
      service.log.error("http.stream_in_pool", ["request_id": id])
      answer = .text(500, "This server cannot stream.\n")
    }
    // A stream may outlast the moment when draining begins, and it has lifted the idle timeout.
    if case .stream = answer.body { isLast = true }
    guard let response = libraryResponse(for: answer, on: handle) else { return .NO }
    defer { MHD_destroy_response(response) }
    for (name, value) in answer.headers where MHD_add_response_header(response, name, value) != .YES
    {
      service.log.error("http.header_not_sent", ["name": name, "request_id": id])
    }
    MHD_add_response_header(response, "x-request-id", id)
    if isLast {
      MHD_add_response_header(response, "connection", "close")
    }
    return MHD_queue_response(handle, UInt32(clamping: answer.status), response)
  }

  private func libraryResponse(for answer: HTTPResponse, on handle: OpaquePointer) -> OpaquePointer?
  {
    switch answer.body {
    case .data(let data):
      connection.answerBegan(isStream: false)
      return data.withUnsafeBytes {
        MHD_create_response_from_buffer(
          $0.count, UnsafeMutableRawPointer(mutating: $0.baseAddress), .RESPMEM_MUST_COPY)
      }
    case .stream(let next):
      connection.answerBegan(isStream: true)
      lockstep_connection_never_idle(handle)
      return OpenStream.response(OpenStream(service: service, next: next))
    }
  }
}

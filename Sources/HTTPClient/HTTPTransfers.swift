import CCurl
import Foundation

/// Ordinary HTTPS requests, many at once, driven by their owner's poll loop. Belongs to one thread.
///
/// Redirects are not followed and no proxy is used; HTTP/2 where the service has it.
package final class HTTPTransfers {
  package struct Settings: Hashable, Sendable {
    /// PEM authorities to trust instead of the system's.
    package var authorityFile: String?
    /// Requests in flight at most.
    package var requestsMax = 200
    /// From looking up the name to the end of the TLS handshake.
    package var connectTimeout: Duration = .seconds(5)
    /// From handing over a request to its answer's last octet.
    package var requestTimeout: Duration = .seconds(15)
    /// One connection carries many requests.
    package var connectionsPerHostMax = 4
    package var connectionsMax = 8

    package init() {}
  }

  package struct Request: Hashable, Sendable {
    /// Absolute, https.
    package let url: String
    /// `name: value`.
    package let fields: [String]
    package let body: Data

    package init(post body: Data, to url: String, fields: [String]) {
      self.url = url
      self.fields = fields
      self.body = body
    }
  }

  package enum End: Sendable {
    case answered(HTTPClientResponse)
    /// No whole answer came.
    case unanswered(because: String)
  }

  private let loop: TransferLoop
  private let settings: Settings
  private let elapsed: @Sendable () -> Duration
  private var transfers: [UInt64: PostTransfer] = [:]

  /// How long after libcurl's own deadline a request is given up that libcurl still holds.
  private static let deadlineMargin: Duration = .seconds(1)

  /// `elapsed`: the steady clock.
  package init(_ settings: Settings, elapsed: @escaping @Sendable () -> Duration) {
    self.settings = settings
    self.elapsed = elapsed
    loop = TransferLoop(
      TransferLoop.Limits(
        connectionsPerHostMax: settings.connectionsPerHostMax,
        connectionsMax: settings.connectionsMax), elapsed: elapsed)
  }

  deinit { close() }

  /// Descriptors and the poll(2) events they wait for.
  package var descriptors: [(descriptor: Int32, events: Int16)] { loop.descriptors }
  package var capacity: Int { max(0, settings.requestsMax - transfers.count) }
  package var inFlight: Int { transfers.count }

  /// `number`: names the request; its end carries it back.
  package func send(_ request: Request, number: UInt64) {
    let transfer = PostTransfer(request, settings, number: number, startedAt: elapsed())
    transfers[number] = transfer
    loop.add(transfer.handle)
  }

  /// Does what can be done now.
  ///
  /// - Returns: what has ended since the last call, each request exactly once.
  package func advance() -> [(number: UInt64, end: End)] {
    var ends = loop.advance().compactMap { handle, code -> (UInt64, End)? in
      guard let pointer = lockstep_curl_private(handle) else { return nil }
      let transfer = Unmanaged<PostTransfer>.fromOpaque(pointer).takeUnretainedValue()
      return (transfer.number, transfer.end(code))
    }
    // A request that waits for a connection has no deadline of libcurl's.
    let oldest = elapsed() - settings.requestTimeout - Self.deadlineMargin
    let over = Set(ends.map(\.0))
    ends += transfers.values.filter { $0.startedAt < oldest && !over.contains($0.number) }.map {
      ($0.number, .unanswered(because: "no answer within \(settings.requestTimeout)"))
    }
    for (number, _) in ends {
      guard let transfer = transfers[number] else { continue }
      loop.remove(transfer.handle)
      // Only now: the handle is freed with it.
      transfers[number] = nil
    }
    return ends.map { (number: $0.0, end: $0.1) }
  }

  /// Ends all connections; requests in flight are given up without an end.
  package func close() {
    for transfer in transfers.values { loop.remove(transfer.handle) }
    transfers = [:]
  }
}

/// One POST on its way, with the libcurl handle that carries it.
private final class PostTransfer {
  /// Of an answer's body, in octets; what a service says beyond is not read.
  static let bodyBytesMax = 64 * 1024

  let number: UInt64
  let handle: UnsafeMutableRawPointer
  let startedAt: Duration
  private var fields: UnsafeMutablePointer<curl_slist>?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private let incoming = IncomingResponse(bodyBytesMax: PostTransfer.bodyBytesMax)

  init(
    _ request: HTTPTransfers.Request, _ settings: HTTPTransfers.Settings, number: UInt64,
    startedAt: Duration
  ) {
    guard let handle = curl_easy_init() else { preconditionFailure("libcurl has no memory") }
    self.handle = handle
    self.number = number
    self.startedAt = startedAt
    errorText.pointee = 0
    setLimits(settings)
    setRequest(request)
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(fields)
    errorText.deallocate()
  }

  private func setLimits(_ settings: HTTPTransfers.Settings) {
    lockstep_curl_set_number(handle, CURLOPT_NOSIGNAL, 1)
    lockstep_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "https")
    lockstep_curl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0)
    lockstep_curl_set_text(handle, CURLOPT_PROXY, "")
    lockstep_curl_set_number(
      handle, CURLOPT_CONNECTTIMEOUT_MS, Int(settings.connectTimeout / .milliseconds(1)))
    lockstep_curl_set_number(
      handle, CURLOPT_TIMEOUT_MS, Int(settings.requestTimeout / .milliseconds(1)))
    // HTTP/2 where the service has it, and rather a place on a connection that is being made than
    // one more connection.
    lockstep_curl_set_number(handle, CURLOPT_HTTP_VERSION, 4)
    lockstep_curl_set_number(handle, CURLOPT_PIPEWAIT, 1)
    if let file = settings.authorityFile { lockstep_curl_set_text(handle, CURLOPT_CAINFO, file) }
  }

  private func setRequest(_ request: HTTPTransfers.Request) {
    lockstep_curl_set_text(handle, CURLOPT_URL, request.url)
    // An empty value keeps libcurl from adding the field: waiting for 100-continue costs a second.
    for field in request.fields + ["user-agent: lockstep", "expect:"] {
      fields = curl_slist_append(fields, field)
    }
    lockstep_curl_set_pointer(handle, CURLOPT_HTTPHEADER, fields)
    lockstep_curl_set_number(handle, CURLOPT_POST, 1)
    lockstep_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
    // libcurl copies as many octets as it was told before.
    _ = request.body.withUnsafeBytes { bytes in
      lockstep_curl_set_pointer(
        handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
    let target = Unmanaged.passUnretained(incoming).toOpaque()
    lockstep_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    lockstep_curl_set_pointer(handle, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
    lockstep_curl_set_write(handle, CURLOPT_WRITEFUNCTION, takeBody)
    lockstep_curl_set_pointer(handle, CURLOPT_WRITEDATA, target)
    lockstep_curl_set_write(handle, CURLOPT_HEADERFUNCTION, takeHeader)
    lockstep_curl_set_pointer(handle, CURLOPT_HEADERDATA, target)
  }

  func end(_ code: CURLcode) -> HTTPTransfers.End {
    guard code == CURLE_OK else {
      let detail = String(cString: errorText)
      return .unanswered(
        because: detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail)
    }
    return .answered(
      HTTPClientResponse(
        status: lockstep_curl_status(handle), headers: incoming.headers, body: incoming.body))
  }
}

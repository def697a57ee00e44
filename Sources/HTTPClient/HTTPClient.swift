import CCurl
import Foundation

/// Sends one HTTP request at a time and waits for its answer. Connections are kept and used again.
///
/// One instance belongs to one thread: it is not `Sendable`. Redirects are not followed, and only
/// http and https are spoken.
package final class HTTPClient {
  /// The longest answer taken, in octets.
  package static let bodyBytesMax = 64 * 1024 * 1024

  private let handle: UnsafeMutableRawPointer
  private let timeout: Duration
  private let caFile: String?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// - Parameters:
  ///   - timeout: for a whole request, from looking up the name to the answer's last octet.
  ///   - caFile: PEM certificates to trust instead of the system's.
  package init(timeout: Duration = .seconds(10), caFile: String? = nil) {
    _ = libraryIsReady
    guard let handle = curl_easy_init() else { preconditionFailure("libcurl has no memory") }
    self.handle = handle
    self.timeout = timeout
    self.caFile = caFile
  }

  deinit {
    curl_easy_cleanup(handle)
    errorText.deallocate()
  }

  /// Sends a request and waits for its answer.
  ///
  /// - Parameters:
  ///   - method: `GET`, `POST`, or any other.
  ///   - url: absolute, http or https.
  ///   - headers: sent beside `host` and `content-length`.
  ///   - body: nil sends none; with `POST` and the like an empty one is announced.
  /// - Returns: the answer, whatever its status.
  /// - Throws: ``HTTPClientError`` when no whole answer came.
  package func send(
    _ method: String, _ url: String, headers: [String: String] = [:], body: Data? = nil
  ) throws(HTTPClientError) -> HTTPClientResponse {
    var fields: UnsafeMutablePointer<curl_slist>?
    defer { curl_slist_free_all(fields) }
    // An empty value keeps libcurl from adding the field: waiting for 100-continue costs a second.
    for field in ["expect:"] + headers.map({ "\($0.key): \($0.value)" }) {
      guard !field.contains(where: \.isNewline), let longer = curl_slist_append(fields, field)
      else { throw HTTPClientError(method: method, url: url, reason: "a header holds a newline") }
      fields = longer
    }
    let incoming = IncomingResponse()
    let code = perform(method, url, fields: fields, body: body, into: incoming)
    guard code == CURLE_OK else {
      let detail = String(cString: errorText)
      let reason = incoming.isTooLong ? "the answer is longer than \(Self.bodyBytesMax) bytes" : ""
      throw HTTPClientError(
        method: method, url: url,
        reason: [reason, detail, String(cString: curl_easy_strerror(code))]
          .first { !$0.isEmpty } ?? "unknown")
    }
    return HTTPClientResponse(
      status: lockstep_curl_status(handle), headers: incoming.headers, body: incoming.body)
  }

  private func perform(
    _ method: String, _ url: String, fields: UnsafeMutablePointer<curl_slist>?, body: Data?,
    into incoming: IncomingResponse
  ) -> CURLcode {
    // Keeps connections and the name cache, forgets the options.
    curl_easy_reset(handle)
    errorText.pointee = 0
    let timeout_ms = Int((timeout / .milliseconds(1)).rounded(.up))
    let target = Unmanaged.passUnretained(incoming).toOpaque()
    lockstep_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    lockstep_curl_set_number(handle, CURLOPT_NOSIGNAL, 1)
    lockstep_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "http,https")
    lockstep_curl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0)
    // An address meant for this machine must not go to a proxy that the environment names.
    lockstep_curl_set_text(handle, CURLOPT_PROXY, "")
    lockstep_curl_set_number(handle, CURLOPT_TIMEOUT_MS, max(1, timeout_ms))
    lockstep_curl_set_text(handle, CURLOPT_URL, url)
    lockstep_curl_set_pointer(handle, CURLOPT_HTTPHEADER, fields)
    lockstep_curl_set_write(handle, CURLOPT_WRITEFUNCTION, takeBody)
    lockstep_curl_set_pointer(handle, CURLOPT_WRITEDATA, target)
    lockstep_curl_set_write(handle, CURLOPT_HEADERFUNCTION, takeHeader)
    lockstep_curl_set_pointer(handle, CURLOPT_HEADERDATA, target)
    if let caFile { lockstep_curl_set_text(handle, CURLOPT_CAINFO, caFile) }
    if method == "HEAD" { lockstep_curl_set_number(handle, CURLOPT_NOBODY, 1) }
    lockstep_curl_set_text(handle, CURLOPT_CUSTOMREQUEST, method)
    guard let outgoing = body ?? (method == "POST" || method == "PUT" ? Data() : nil) else {
      return curl_easy_perform(handle)
    }
    lockstep_curl_set_size(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(outgoing.count))
    // One octet more, so that an empty body has an address too: without one, libcurl would read
    // the body from standard input.
    return (outgoing + [0]).withUnsafeBytes { bytes in
      lockstep_curl_set_pointer(
        handle, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
      return curl_easy_perform(handle)
    }
  }
}

// Once per process, before any handle is made; a `let` is made once even by several threads.
let libraryIsReady: Void = {
  let code = curl_global_init(Int(CURL_GLOBAL_ALL))
  precondition(
    code == CURLE_OK, "libcurl does not start: \(String(cString: curl_easy_strerror(code)))")
}()

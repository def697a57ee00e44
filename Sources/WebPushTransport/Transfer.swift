import CCurl
import CLinux
import Foundation
import Glibc
import Pipeline
import Pushes
import Vocabulary

/// One request on its way, with the libcurl handle that carries it.
final class Transfer {
  /// Of an answer's body; what a service says beyond is not read.
  static let bodyBytesMax = 16 * 1024
  /// Headers that a push service may answer with and we read.
  private static let headersRead = ["retry-after", "ttl", "x-wns-error-description"]

  let number: UInt64
  let handle: UnsafeMutableRawPointer
  let startedAt: Duration
  private let host: String
  private let liftsAddressRule: Bool
  private var fields: UnsafeMutablePointer<curl_slist>?
  private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
  private var body = Data()
  private var isBodyCut = false
  /// The last address that was not public.
  private var forbidden: String?
  private var hasTriedPublic = false

  init(_ request: WebPushRequest, _ settings: WebPushTransportSettings, startedAt: Duration) {
    guard let handle = curl_easy_init() else { preconditionFailure("libcurl has no memory") }
    self.handle = handle
    self.startedAt = startedAt
    number = request.number
    host = request.endpoint.host
    liftsAddressRule = request.liftsAddressRule
    errorText.pointee = 0
    setLimits(settings)
    setRequest(request)
  }

  deinit {
    curl_easy_cleanup(handle)
    curl_slist_free_all(fields)
    errorText.deallocate()
  }

  private func setLimits(_ settings: WebPushTransportSettings) {
    lockstep_curl_set_number(handle, CURLOPT_NOSIGNAL, 1)
    lockstep_curl_set_text(handle, CURLOPT_PROTOCOLS_STR, "https")
    lockstep_curl_set_number(handle, CURLOPT_FOLLOWLOCATION, 0)
    lockstep_curl_set_number(handle, CURLOPT_DISALLOW_USERNAME_IN_URL, 1)
    // A proxy that the environment names would connect where we may not.
    lockstep_curl_set_text(handle, CURLOPT_PROXY, "")
    lockstep_curl_set_number(
      handle, CURLOPT_CONNECTTIMEOUT_MS, Int(settings.connectTimeout.milliseconds))
    lockstep_curl_set_number(handle, CURLOPT_TIMEOUT_MS, Int(settings.requestTimeout.milliseconds))
    // HTTP/2 where the service has it, and rather a place on a connection that is being made than
    // one more connection.
    lockstep_curl_set_number(handle, CURLOPT_HTTP_VERSION, 4)
    lockstep_curl_set_number(handle, CURLOPT_PIPEWAIT, 1)
    if let file = settings.authorityFile { lockstep_curl_set_text(handle, CURLOPT_CAINFO, file) }
  }

  private func setRequest(_ request: WebPushRequest) {
    let own = Unmanaged.passUnretained(self).toOpaque()
    lockstep_curl_set_text(handle, CURLOPT_URL, request.endpoint.text)
    // The endpoint is opaque: dots in its path are the service's business.
    lockstep_curl_set_number(handle, CURLOPT_PATH_AS_IS, 1)
    for field in [
      "authorization: \(request.authorization)", "ttl: \(request.ttl)", "urgency: high",
      "topic: \(request.topic)", "content-encoding: aes128gcm",
      "content-type: application/octet-stream", "user-agent: lockstep",
      // An empty value keeps libcurl from adding the field.
      "expect:", "accept:",
    ] {
      fields = curl_slist_append(fields, field)
    }
    lockstep_curl_set_pointer(handle, CURLOPT_HTTPHEADER, fields)
    lockstep_curl_set_number(handle, CURLOPT_POST, 1)
    lockstep_curl_set_size(
      handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
    // libcurl copies as many octets as it was told before.
    _ = request.body.withUnsafeBytes { bytes in
      lockstep_curl_set_pointer(
        handle, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }
    lockstep_curl_set_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
    lockstep_curl_set_pointer(handle, CURLOPT_PRIVATE, own)
    lockstep_curl_set_write(handle, CURLOPT_WRITEFUNCTION, takeBody)
    lockstep_curl_set_pointer(handle, CURLOPT_WRITEDATA, own)
    lockstep_curl_set_open(handle, openSocket, own)
  }

  /// How it ended, by libcurl's code.
  func outcome(_ code: CURLcode, now: UnixTime) -> WebPushOutcome {
    // A body that was cut off by us does not take back the answer.
    guard code == CURLE_OK || isBodyCut else {
      if let forbidden, !hasTriedPublic {
        return .forbidden(because: "\(host) leads to an address that is not public: \(forbidden)")
      }
      let detail = String(cString: errorText)
      let words = detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
      return .unanswered(because: String(words.prefix(WebPushAnswer.reasonMax)))
    }
    var headers: [String: String] = [:]
    for name in Self.headersRead {
      headers[name] = lockstep_curl_header(handle, name).map { String(cString: $0) }
    }
    return .answered(
      WebPushAnswer(
        status: lockstep_curl_status(handle), headers: headers, body: body, now: now))
  }

  // MARK: Called by libcurl

  /// - Returns: how many octets were taken; anything but all ends the transfer.
  fileprivate func take(_ piece: UnsafeRawBufferPointer) -> Int {
    let room = Self.bodyBytesMax - body.count
    body.append(contentsOf: piece.prefix(room))
    if piece.count > room { isBodyCut = true }
    return min(piece.count, room)
  }

  /// A socket for this address; -1 when we do not connect there.
  fileprivate func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
    let parts = address.pointee
    if !liftsAddressRule {
      if let refusal = Self.refusal(lockstep_curl_address(address)) {
        forbidden = refusal
        return -1
      }
      hasTriedPublic = true
    }
    let flags = Int32(SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    return socket(parts.family, parts.socktype | flags, parts.protocol)
  }

  private static func refusal(_ address: UnsafePointer<sockaddr>?) -> String? {
    guard let address else { return "no address" }
    let bytes: [UInt8]
    switch Int32(address.pointee.sa_family) {
    case AF_INET:
      bytes = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin_addr) { Array($0) }
      }
    case AF_INET6:
      bytes = address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
      }
    default:
      return "no IP address"
    }
    return PublicAddress.refusal(bytes)
  }
}

private let takeBody: lockstep_curl_write = { bytes, size, count, context in
  guard let context else { return 0 }
  return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    .take(UnsafeRawBufferPointer(start: bytes, count: size * count))
}

private let openSocket: lockstep_curl_open = { context, _, address in
  guard let context, let address else { return -1 }
  return Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().open(address)
}

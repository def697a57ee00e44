import Foundation
import HTTPClient
import HTTPServing

/// The web app with its service worker, as an app's own server would serve it, and the way from it
/// to the Lockstep API: same origin, so that no CORS is needed.
///
/// - `/app/` and `/cook-suggest/{id}`: the page. Beside it what it is made of.
/// - `/app/api/…`: `/api/…` of the API, with the page's own `Authorization`.
struct WebAppRoutes: Sendable {
  /// For one call that is passed on.
  static let timeout = Duration.seconds(10)
  private static let passedOn = [
    "authorization", "content-type", "if-none-match", "idempotency-key",
  ]
  private static let passedBack = ["content-type", "etag", "cache-control", "retry-after"]

  private struct File: Sendable {
    let type: String
    let bytes: [UInt8]
  }

  private static let page = File(
    type: "text/html; charset=utf-8", bytes: PackageResources.index_html)
  private static let files: [String: File] = [
    "/app": page, "/app/": page,
    "/app/app.js": File(
      type: "text/javascript; charset=utf-8", bytes: PackageResources.app_js),
    "/app/app.css": File(type: "text/css; charset=utf-8", bytes: PackageResources.app_css),
    "/app/service-worker.js": File(
      type: "text/javascript; charset=utf-8", bytes: PackageResources.service_worker_js),
    "/app/manifest.webmanifest": File(
      type: "application/manifest+json", bytes: PackageResources.manifest_webmanifest),
    "/icons/notification.png": File(type: "image/png", bytes: PackageResources.notification_png),
  ]

  let apiURL: String
  let caFile: String?

  /// Nil when the path is none of these.
  func answer(_ request: HTTPRequest) throws -> HTTPResponse? {
    if request.rawPath.hasPrefix("/app/api/") { return try passOn(request) }
    guard request.method == "GET" else { return nil }
    let isLink = request.segments.first == "cook-suggest" && request.segments.count == 2
    guard let file = isLink ? Self.page : Self.files[request.rawPath] else { return nil }
    return HTTPResponse(
      status: 200,
      headers: [
        ("content-type", file.type), ("cache-control", "no-cache"),
        ("x-content-type-options", "nosniff"),
        // The worker stands in /app/ and also serves the pages that links lead to.
        ("service-worker-allowed", "/"),
        (
          "content-security-policy",
          "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
            + "img-src 'self' data:; worker-src 'self'; manifest-src 'self'; base-uri 'none'; "
            + "form-action 'none'"
        ),
      ], body: Data(file.bytes))
  }

  private func passOn(_ request: HTTPRequest) throws -> HTTPResponse {
    let base = PhoneLine.Account(trimming: apiURL, bearer: "").apiURL
    let path = request.rawPath.dropFirst("/app".count)
    var query = URLComponents()
    query.queryItems =
      request.query.isEmpty
      ? nil : request.query.map { URLQueryItem(name: $0.name, value: $0.value) }
    var headers: [String: String] = [:]
    for name in Self.passedOn { headers[name] = request.header(name) }
    let answer = try HTTPClient(timeout: Self.timeout, caFile: caFile).send(
      request.method, base + path + (query.string ?? ""), headers: headers,
      body: request.body.isEmpty ? nil : request.body)
    return HTTPResponse(
      status: answer.status,
      headers: Self.passedBack.compactMap { name in answer.headers[name].map { (name, $0) } },
      body: answer.body)
  }
}

import Foundation
import HTTPServing

/// The ops page: three files, nothing from outside, no inline code.
enum OpsPage {
  static let headers: [(name: String, value: String)] = [
    ("cache-control", "no-store"), ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    (
      "content-security-policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
  ]

  static let document = file(PackageResources.page_html, "text/html")
  static let style = file(PackageResources.page_css, "text/css")
  static let script = file(PackageResources.page_js, "text/javascript")

  private static func file(_ bytes: [UInt8], _ type: String) -> HTTPResponse {
    HTTPResponse(
      status: 200, headers: [("content-type", "\(type); charset=utf-8")] + headers,
      body: Data(bytes))
  }
}

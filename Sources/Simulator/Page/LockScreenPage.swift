import Foundation
import HTTPServing

extension HTTPResponse {
  /// The page that shows the phones: one document without anything from outside.
  static let page: HTTPResponse = {
    let style =
      String(decoding: PackageResources.page_css, as: UTF8.self)
      + String(decoding: PackageResources.android_css, as: UTF8.self)
    let script =
      String(decoding: PackageResources.lockscreen_js, as: UTF8.self)
      + String(decoding: PackageResources.browser_js, as: UTF8.self)
      + String(decoding: PackageResources.android_js, as: UTF8.self)
      + String(decoding: PackageResources.page_js, as: UTF8.self)
    let document = String(decoding: PackageResources.page_html, as: UTF8.self)
      .replacing("/*style*/", with: style).replacing("/*script*/", with: script)
    return HTTPResponse(
      status: 200,
      headers: [
        ("content-type", "text/html; charset=utf-8"), ("cache-control", "no-store"),
        (
          "content-security-policy",
          "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
            + "connect-src 'self'; img-src data:"
        ),
      ], body: Data(document.utf8))
  }()
}

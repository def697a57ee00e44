import Foundation
import Testing

@Suite struct ProxyTests {
  /// As a site of Debian's nginx, with paths and a certificate of our own.
  private func test(_ spoil: (String) -> String = { $0 }) throws -> Tools.Outcome {
    let folder = try Folder()
    let made = try Tools.run(
      "/usr/bin/openssl",
      [
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
        "-days", "1", "-subj", "/CN=api.app.example", "-keyout", "\(folder.path)/privkey.pem",
        "-out", "\(folder.path)/fullchain.pem",
      ])
    try #require(made.code == 0, "\(made.output)")
    let site = try Tools.text("deploy/proxy/nginx.conf")
      .replacing("/etc/lockstep/tls", with: folder.path)
      .replacing("/etc/nginx/", with: Tools.path("deploy/proxy/"))
    let whole = """
      pid \(folder.path)/pid; error_log stderr warn;
      events {}
      http {
        access_log off;
        client_body_temp_path \(folder.path)/b; proxy_temp_path \(folder.path)/p;
        fastcgi_temp_path \(folder.path)/f; uwsgi_temp_path \(folder.path)/u;
        scgi_temp_path \(folder.path)/s;
        \(spoil(site))
      }
      """
    let file = folder.url.appending(path: "nginx.conf")
    try Data(whole.utf8).write(to: file)
    return try Tools.run("/usr/sbin/nginx", ["-t", "-q", "-c", file.path(percentEncoded: false)])
  }

  @Test func `nginx takes the proxy's configuration, and finds a fault in it`() throws {
    let outcome = try test()
    #expect(outcome.code == 0)
    #expect(outcome.output == "")
    #expect(try test { $0.replacing("ssl_protocols", with: "ssl_protocol") }.code != 0)
  }
}

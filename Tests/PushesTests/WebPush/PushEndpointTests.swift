import Pushes
import Testing

@Suite struct PushEndpointTests {
  @Test(arguments: [
    ("https://fcm.googleapis.com/fcm/send/a:b_c-d", "fcm.googleapis.com", 443),
    (
      "https://updates.push.services.mozilla.com/wpush/v2/gAA",
      "updates.push.services.mozilla.com", 443
    ),
    ("https://web.push.apple.com/QGu", "web.push.apple.com", 443),
    ("https://WNS2-am3p.notify.windows.com/w/?token=B%2f", "wns2-am3p.notify.windows.com", 443),
    ("https://fcm.googleapis.com:443/x", "fcm.googleapis.com", 443),
  ])
  func `what browsers are given is taken`(text: String, host: String, port: Int) throws {
    let endpoint = try PushEndpoint(text)
    #expect(endpoint.host == host)
    #expect(endpoint.port == port)
    #expect(endpoint.text == text)
    #expect(endpoint.origin == "https://\(host)")
    try PushServices.browsers.check(endpoint)
    #expect(!PushServices.browsers.liftsAddressRule(for: endpoint))
  }

  @Test(arguments: [
    ("http://fcm.googleapis.com/x", PushEndpointError.notHTTPS(scheme: "http")),
    ("ftp://fcm.googleapis.com/x", .notHTTPS(scheme: "ftp")),
    ("HTTPS://fcm.googleapis.com/x", .notHTTPS(scheme: "HTTPS")),
    ("fcm.googleapis.com/x", .notHTTPS(scheme: "")), ("", .notHTTPS(scheme: "")),
    ("https://user@fcm.googleapis.com/x", .userInfo),
    ("https://user:pass@fcm.googleapis.com/x", .userInfo),
    ("https://fcm.googleapis.com@10.0.0.1/x", .userInfo),
    ("https://fcm.googleapis.com/x#part", .fragment),
    ("https://10.0.0.1#fcm.googleapis.com/x", .fragment),
    ("https://10.0.0.1\\@fcm.googleapis.com/x", .strangeCharacter),
    ("https://fcm.googleapis.com/a b", .strangeCharacter),
    ("https://fcm.googleapis.com/a\r\nx: y", .strangeCharacter),
    ("https://fcm.googleapis.com/ä", .strangeCharacter),
    ("https://fcm.googleapis.com", .noPath), ("https://fcm.googleapis.com?x=/", .noPath),
    ("https://[::1]/x", .address), ("https://[::ffff:10.0.0.1]:443/x", .address),
    ("https:///x", .malformedHost), ("https://.googleapis.com/x", .malformedHost),
    ("https://fcm.googleapis.com./x", .malformedHost), ("https://-a.com/x", .malformedHost),
    ("https://fcm_x.com/x", .malformedHost), ("https://fcm%2egoogleapis.com/x", .malformedHost),
    ("https://fcm.googleapis.com:/x", .malformedHost),
    ("https://fcm.googleapis.com:0/x", .malformedHost),
    ("https://fcm.googleapis.com:65536/x", .malformedHost),
    ("https://fcm.googleapis.com:+443/x", .malformedHost),
    ("https://fcm.googleapis.com:443:1/x", .malformedHost),
  ])
  func `anything else is refused with what is wrong`(text: String, error: PushEndpointError) {
    #expect(throws: error) { try PushEndpoint(text) }
  }

  @Test func `2048 bytes are taken, 2049 are not`() throws {
    let start = "https://fcm.googleapis.com/"
    let full = start + String(repeating: "a", count: 2048 - start.utf8.count)
    _ = try PushEndpoint(full)
    #expect(throws: PushEndpointError.tooLong(bytes: 2049)) { try PushEndpoint(full + "a") }
  }

  @Test(arguments: [
    ("https://10.0.0.1/x", PushEndpointError.address), ("https://127.0.0.1/x", .address),
    ("https://169.254.169.254/latest", .address), ("https://0x7f.1/x", .address),
    ("https://2130706433/x", .address), ("https://8.8.8.8/x", .address),
    ("https://fcm.googleapis.com.0x7f000001/x", .address),
    ("https://fcm.googleapis.com:8443/x", .port(8443)),
    ("https://example.com/x", .unknownHost("example.com")),
    ("https://localhost/x", .unknownHost("localhost")),
    ("https://fcm.googleapis.com.evil.com/x", .unknownHost("fcm.googleapis.com.evil.com")),
    ("https://evilfcm.googleapis.com/x", .unknownHost("evilfcm.googleapis.com")),
    ("https://notify.windows.com/x", .unknownHost("notify.windows.com")),
    ("https://evilnotify.windows.com/x", .unknownHost("evilnotify.windows.com")),
  ])
  func `only hosts of the list are sent to`(text: String, error: PushEndpointError) throws {
    let endpoint = try PushEndpoint(text)
    #expect(throws: error) { try PushServices.browsers.check(endpoint) }
  }

  @Test func `an entry with a port lifts the rules for exactly that host and port`() throws {
    let services = try PushServices(list: "localhost:9443, *.push.example.com,127.0.0.1:9444")
    for good in [
      "https://localhost:9443/x", "https://127.0.0.1:9444/x", "https://a.push.example.com/x",
    ] {
      try services.check(PushEndpoint(good))
    }
    #expect(services.liftsAddressRule(for: try PushEndpoint("https://localhost:9443/x")))
    #expect(!services.liftsAddressRule(for: try PushEndpoint("https://a.push.example.com/x")))
    for bad in [
      "https://localhost/x", "https://localhost:9444/x", "https://127.0.0.1:9443/x",
      "https://push.example.com/x", "https://fcm.googleapis.com/x",
    ] {
      #expect(throws: PushEndpointError.self) { try services.check(PushEndpoint(bad)) }
    }
    #expect(try PushEndpoint("https://localhost:9443/x").origin == "https://localhost:9443")
  }

  @Test(arguments: [
    "", " , ", "https://a.com", "a.com/x", "*", "*.", "*.com", "a b.com", "localhost", "10.0.0.1",
    "*.a.com:443", "a.com:x", "user@a.com",
  ])
  func `a list that cannot be meant is refused, and the entry named`(list: String) {
    #expect(throws: PushServicesError.self) { try PushServices(list: list) }
  }
}

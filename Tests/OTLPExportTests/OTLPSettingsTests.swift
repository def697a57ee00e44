import OTLPExport
import Testing

@Suite struct OTLPSettingsTests {
  @Test(arguments: [
    ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
    ("https://collector.example/otlp/", "https://collector.example/otlp/v1/traces"),
  ])
  func `The signal's path is put behind the endpoint`(endpoint: String, url: String) throws {
    #expect(try OTLPSettings(endpoint: endpoint).tracesURL == url)
  }

  @Test(arguments: ["", "127.0.0.1:4318", "grpc://a:4317", "http://", "http://a/?b", "http://a#b"])
  func `What is no such URL is refused`(endpoint: String) {
    #expect(throws: OTLPSettings.Complaint.self) { try OTLPSettings(endpoint: endpoint) }
  }

  @Test func `Headers are read as OpenTelemetry writes them`() throws {
    let headers = try OTLPSettings.headers("Authorization=Basic%20abc%3D%3D, x-tenant=one,")
    #expect(headers == ["authorization": "Basic abc==", "x-tenant": "one"])
    #expect(try OTLPSettings.headers("") == [:])
  }

  @Test(arguments: ["secret", "=secret", "a=%0d%0asecret: 1", "a=secret%zz"])
  func `Headers in another form are refused without showing them`(text: String) {
    do {
      _ = try OTLPSettings.headers(text)
      Issue.record("\(text) was taken")
    } catch {
      #expect(!error.description.contains("secret"))
    }
  }
}

import Foundation
import HTTPClient
import Testing

/// A virtual host of its own on the RabbitMQ that `deploy/test` started, gone with the instance.
///
/// Reads LOCKSTEP_TEST_AMQP_URL and LOCKSTEP_TEST_AMQP_MANAGEMENT_URL, or takes the URLs of a
/// ``PrivateBroker``; without a broker the test fails.
package final class BrokerUnderTest {
  /// `amqp://…/<virtual host>`.
  package let url: String
  package let virtualHost: String
  private let management: String
  private let client = HTTPClient(timeout: .seconds(30))

  package init(url: String? = nil, managementURL: String? = nil) throws {
    let environment = ProcessInfo.processInfo.environment
    let amqp = try #require(
      url ?? environment["LOCKSTEP_TEST_AMQP_URL"],
      "no broker: run the tests with deploy/test, or set LOCKSTEP_TEST_AMQP_URL")
    management = try #require(
      managementURL ?? environment["LOCKSTEP_TEST_AMQP_MANAGEMENT_URL"],
      "no broker: run the tests with deploy/test, or set LOCKSTEP_TEST_AMQP_MANAGEMENT_URL")
    virtualHost = "test-\(UUID().uuidString.lowercased())"
    self.url = (amqp.hasSuffix("/") ? amqp : amqp + "/") + virtualHost
    let account = String(amqp.split(separator: "/")[1].split(separator: ":")[0])
    try manage("PUT", "/api/vhosts/\(virtualHost)")
    try manage(
      "PUT", "/api/permissions/\(virtualHost)/\(account)",
      #"{"configure":".*","write":".*","read":".*"}"#)
  }

  deinit {
    // A broker that the test has killed has nothing left to clean.
    _ = try? client.send("DELETE", management + "/api/vhosts/\(virtualHost)")
  }

  /// Calls the management API; the path is that from `/api/` on. Any status but 2xx fails the test.
  @discardableResult
  package func manage(_ method: String, _ path: String, _ json: String? = nil) throws
    -> HTTPClientResponse
  {
    let answer = try client.send(
      method, management + path, headers: ["content-type": "application/json"],
      body: json.map { Data($0.utf8) })
    try #require((200..<300).contains(answer.status), "\(method) \(path): \(answer.text)")
    return answer
  }

  package func deleteQueue(_ name: String) throws {
    try manage("DELETE", "/api/queues/\(virtualHost)/\(name)")
  }

  /// Ends the connections of this virtual host, as an operator would.
  ///
  /// - Returns: how many there were.
  package func closeConnections() throws -> Int {
    let answer = try manage("GET", "/api/vhosts/\(virtualHost)/connections?columns=name")
    let listed = try JSONDecoder().decode([[String: String]].self, from: answer.body)
    for connection in listed.compactMap({ $0["name"] }) {
      let name = connection.addingPercentEncoding(withAllowedCharacters: .alphanumerics)
      try manage("DELETE", "/api/connections/\(name ?? "")")
    }
    return listed.count
  }
}

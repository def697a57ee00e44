import Foundation
import HTTPClient
import Vocabulary

/// RabbitMQ's management API for one virtual host. Owned by one thread.
package final class BrokerManagement {
  /// For one request.
  private static let timeout = Duration.seconds(15)

  private let url: String
  private let virtualHost: String
  let segment: String
  private let client: HTTPClient

  /// `url`: LOCKSTEP_AMQP_MANAGEMENT_URL, `http(s)://user:password@host:port`. `authoritiesFile`:
  /// PEM file of the authorities for https; nil takes the system's.
  ///
  /// - Throws: ``ManagementFailure`` when the URL is of another kind, without the password.
  package init(url: String, virtualHost: String, authoritiesFile: String? = nil)
    throws(ManagementFailure)
  {
    guard url.hasPrefix("http://") || url.hasPrefix("https://"), url.contains("@") else {
      throw .refused("want http://user:password@host:15672, or https://")
    }
    self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
    self.virtualHost = virtualHost
    segment = Self.segment(virtualHost)
    client = HTTPClient(timeout: Self.timeout, caFile: authoritiesFile)
  }

  static func segment(_ text: String) -> String {
    let plain = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."~"))
    return text.addingPercentEncoding(withAllowedCharacters: plain) ?? text
  }

  /// Everything the virtual host holds; nothing when it does not exist.
  package func contents() throws(ManagementFailure) -> BrokerContents {
    do throws(ManagementFailure) {
      return try held()
    } catch {
      guard case .answered(status: 404, _) = error else { throw error }
      return BrokerContents(queues: [], exchanges: [], bindings: [], permissions: [])
    }
  }

  private func held() throws(ManagementFailure) -> BrokerContents {
    let columns =
      "name,durable,arguments,policy,operator_policy,effective_policy_definition"
    return BrokerContents(
      queues: try get("queues/\(segment)?columns=\(columns)"),
      exchanges: try get("exchanges/\(segment)?columns=name,type,durable,arguments"),
      bindings: try get("bindings/\(segment)"), permissions: try permissions())
  }

  /// Nil when our account is no administrator.
  private func permissions() throws(ManagementFailure) -> [BrokerContents.Permission]? {
    do throws(ManagementFailure) {
      return try get("vhosts/\(segment)/permissions")
    } catch {
      if case .answered(let status, _) = error, status == 401 || status == 403 { return nil }
      throw error
    }
  }

  /// - Returns: whether it was made; false when it was there.
  package func makeVirtualHost() throws(ManagementFailure) -> Bool {
    try send("PUT", "vhosts/\(segment)", nil).status == 201
  }

  /// The names of all accounts, or nil when our account is no administrator.
  package func users() throws(ManagementFailure) -> Set<String>? {
    struct Account: Decodable { let name: String }
    do throws(ManagementFailure) {
      let accounts: [Account] = try get("users?columns=name")
      return Set(accounts.map(\.name))
    } catch {
      if case .answered(let status, _) = error, status == 401 || status == 403 { return nil }
      throw error
    }
  }

  /// Makes the account, or gives it this password and these tags.
  package func makeUser(_ name: String, password: String, tags: [String])
    throws(ManagementFailure)
  {
    let account: JSONValue = [
      "password": .string(password), "tags": .string(tags.joined(separator: ",")),
    ]
    _ = try send("PUT", "users/\(Self.segment(name))", account)
  }

  /// Sets an account's rights on the virtual host.
  package func setPermissions(
    of name: String, to rights: (configure: String, write: String, read: String)
  ) throws(ManagementFailure) {
    let permission: JSONValue = [
      "configure": .string(rights.configure), "write": .string(rights.write),
      "read": .string(rights.read),
    ]
    _ = try send("PUT", "permissions/\(segment)/\(Self.segment(name))", permission)
  }

  // MARK: Requests

  func get<Value: Decodable>(_ path: String) throws(ManagementFailure) -> Value {
    let answer = try send("GET", path, nil)
    do {
      return try JSON.decode(Value.self, from: answer.body)
    } catch {
      throw .refused("GET /api/\(path): the answer cannot be read: \(error)")
    }
  }

  private func send(_ method: String, _ path: String, _ body: JSONValue?)
    throws(ManagementFailure) -> HTTPClientResponse
  {
    let answer: HTTPClientResponse
    do throws(HTTPClientError) {
      answer = try client.send(
        method, "\(url)/api/\(path)", headers: ["content-type": "application/json"],
        body: body?.encoded)
    } catch {
      throw .unreachable("\(error)")
    }
    guard (200..<300).contains(answer.status) else {
      throw .answered(
        status: answer.status, "\(method) /api/\(path): \(answer.status) \(answer.text)")
    }
    return answer
  }
}

/// The management API did not do what was asked.
package enum ManagementFailure: Error, Hashable, CustomStringConvertible {
  case refused(String)
  case unreachable(String)
  case answered(status: Int, String)

  package var description: String {
    switch self {
    case .refused(let reason), .unreachable(let reason), .answered(_, let reason): reason
    }
  }
}

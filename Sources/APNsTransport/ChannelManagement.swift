import Foundation
import HTTPClient
import Pipeline
import Pushes
import Vocabulary

/// Apple's management of broadcast channels, on hosts and ports of its own. Rare calls, one at a
/// time, so libcurl is good enough for them.
///
/// Source: research on "Sending channel management requests to APNs", developer.apple.com.
package final class ChannelManagement: ChannelService {
  /// Apple's: another host and another port for each service.
  package static let apple: [PushEnvironment: String] = [
    .production: "https://api-manage-broadcast.push.apple.com:2196",
    .sandbox: "https://api-manage-broadcast.sandbox.push.apple.com:2195",
  ]

  private let servers: [PushEnvironment: String]
  private let tokens: any ProviderTokenSource
  private let client: HTTPClient
  private let newRequestID: () -> String

  /// - Parameters:
  ///   - servers: `https://host:port`, without a slash at the end.
  ///   - tokens: of the key that pushes are made with.
  ///   - authorityFile: PEM; nil: the system's store.
  ///   - timeout: of one call.
  ///   - newRequestID: a lower-case UUID for each call.
  package init(
    servers: [PushEnvironment: String], tokens: any ProviderTokenSource, authorityFile: String?,
    timeout: Duration, newRequestID: @escaping () -> String
  ) {
    self.servers = servers
    self.tokens = tokens
    client = HTTPClient(timeout: timeout, caFile: authorityFile)
    self.newRequestID = newRequestID
  }

  package func create(storingNewest: Bool, in app: ChannelApp) -> ChannelAnswer<String> {
    let body: JSONValue = [
      "message-storage-policy": storingNewest ? 1 : 0, "push-type": "LiveActivity",
    ]
    return call("POST", "channels", app, body: body, wants: 201) {
      $0.headers["apns-channel-id"].flatMap { $0.isEmpty ? nil : $0 }
    }
  }

  package func read(_ id: String, in app: ChannelApp) -> ChannelAnswer<Bool> {
    call("GET", "channels", app, channel: id, wants: 200) { answer in
      // What cannot be read is no answer, and is told as one.
      guard let body = try? JSONValue(parsing: answer.body),
        case .integer(let policy) = body["message-storage-policy"]
      else { return nil }
      return policy == 1
    }
  }

  package func delete(_ id: String, in app: ChannelApp) -> ChannelAnswer<Void> {
    call("DELETE", "channels", app, channel: id, wants: 204) { _ in () }
  }

  package func list(in app: ChannelApp) -> ChannelAnswer<[String]> {
    call("GET", "all-channels", app, wants: 200) { answer in
      guard let body = try? JSONValue(parsing: answer.body),
        case .array(let channels) = body["channels"]
      else { return nil }
      return channels.compactMap { if case .string(let id) = $0 { id } else { nil } }
    }
  }

  private func call<Value>(
    _ method: String, _ what: String, _ app: ChannelApp, channel: String? = nil,
    body: JSONValue? = nil, wants status: Int, _ read: (HTTPClientResponse) -> Value?
  ) -> ChannelAnswer<Value> {
    guard let server = servers[app.environment] else {
      return .unanswered(because: "no server is set for \(app.environment.rawValue)")
    }
    do {
      let token = try tokens.token()
      var headers = [
        "authorization": token.authorization, "apns-request-id": newRequestID(),
        "content-type": "application/json",
      ]
      if let channel { headers["apns-channel-id"] = channel }
      let answer = try client.send(
        method, "\(server)/1/apps/\(app.bundleID)/\(what)", headers: headers,
        body: body?.encoded)
      guard answer.status == status else {
        let reason = AnswerReader.reason(answer.body).reason ?? "without a reason"
        if reason == "ExpiredProviderToken" { tokens.expired(generation: token.generation) }
        return .refused(status: answer.status, reason: reason)
      }
      guard let value = read(answer) else {
        return .unanswered(because: "\(method) \(what): \(status), and nothing that can be read")
      }
      return .done(value)
    } catch {
      return .unanswered(because: "\(error)")
    }
  }
}

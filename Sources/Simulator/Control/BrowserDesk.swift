import Foundation
import HTTPClient
import Vocabulary

/// Asks for a new browser.
package struct BrowserOrder: Hashable, Sendable, Decodable {
  /// Names the browser in the control API; absent: made from the user's id.
  package var id: String?
  package var userID: UserID
  /// What the owner is called, on the page.
  package var name: String?
  /// The JSON web token that the page calls the API with.
  package var token: String
  /// Absent: the one of the settings.
  package var apiURL: String?
  /// Whether its page has a bell that looks at the API again and again. Absent: no.
  package var bell: Bool?

  enum CodingKeys: String, CodingKey {
    case id, name, token, bell
    case userID = "user_id"
    case apiURL = "api_url"
  }

  package init(userID: UserID, name: String?, token: String, bell: Bool? = nil) {
    self.userID = userID
    self.name = name
    self.token = token
    self.bell = bell
  }
}

/// A new browser, subscribed.
package struct NewBrowser: Hashable, Sendable, Encodable {
  package let id: String
  /// What `PushSubscription.toJSON()` would give.
  package let subscription: JSONValue
}

/// Subscribes virtual browsers as a page would: asks the API for its key, makes a subscription, and
/// tells the API. Each call waits for it, on the caller's thread.
struct BrowserDesk: Sendable {
  /// How long each of a new browser's calls may take.
  static let timeout = Duration.seconds(5)

  let world: World
  let inboxes: InboxLine
  /// Where a browser finds the API that is not told.
  let apiURL: String
  let caFile: String?

  /// - Throws: ``SettingsError`` for an order that cannot be, ``DeskError`` when the API refuses.
  func add(_ order: BrowserOrder) throws -> NewBrowser {
    guard !order.token.isEmpty, !order.userID.text.isEmpty else {
      throw SettingsError(["user_id and token: want both, not empty"])
    }
    let account = PhoneLine.Account(trimming: order.apiURL ?? apiURL, bearer: order.token)
    let client = HTTPClient(timeout: Self.timeout, caFile: caFile)
    let offer = try call("GET", "/api/webpush/public-key", as: account, with: client)
    guard case .string(let key)? = offer["public_key"] else {
      throw DeskError(detail: "the API's answer has no public_key")
    }
    let (identity, origin) = try world.change { state, _ in
      let identity = try state.browsers.add(
        id: order.id, userID: order.userID, name: order.name ?? order.userID.text, vapidKey: key,
        mint: &state.fleet.mint)
      return ((identity, state.webPushOrigin), [])
    }
    let subscription = identity.subscriptionJSON(origin: origin)
    do {
      _ = try call(
        "POST", "/api/webpush/subscriptions", subscription, as: account, with: client)
    } catch {
      // A page that could not tell its server gives its subscription back.
      world.change { state, now in
        state.act(onBrowser: identity.id, at: now) { browser in
          browser.unsubscribe()
          return []
        }
        return ((), [])
      }
      throw error
    }
    if order.bell == true { try inboxes.watch(.browser(identity.id), as: account) }
    return NewBrowser(id: identity.id, subscription: subscription)
  }

  private func call(
    _ method: String, _ path: String, _ body: JSONValue? = nil, as account: PhoneLine.Account,
    with client: HTTPClient
  ) throws -> JSONValue {
    let answer = try client.send(
      method, account.apiURL + path,
      headers: [
        "authorization": "Bearer \(account.bearer)", "content-type": "application/json",
      ], body: body?.encoded)
    guard (200..<300).contains(answer.status) else {
      let detail = answer.text.prefix(300)
      throw DeskError(detail: "the API answered \(answer.status) to \(method) \(path): \(detail)")
    }
    return try JSONValue(parsing: answer.body)
  }
}

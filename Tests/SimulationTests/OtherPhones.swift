import Foundation
import Pushes
import Sessions
import TestSupport
import Vocabulary

@testable import Simulator

/// The phones and browsers that Apple does not reach, and the services that do: FCM, and a push
/// service for the web.
final class OtherPhones {
  static let package = "app.example.cook"
  static let pushHost = "push.example.org"

  private(set) var androids = AndroidFleet()
  private(set) var browsers = BrowserFleet()
  let ether: Ether
  /// What phones and browsers found wrong with what came.
  private(set) var complaints: [String] = []
  private let time: ManualTime
  private let chaos: Chaos

  init(seed: UInt64, vapidKey: String, time: ManualTime, chaos: Chaos, isSlow: Bool) {
    self.time = time
    self.chaos = chaos
    ether = Ether(time: time, chaos: chaos, isSlow: isSlow)
    var mint = TokenMint(seed: seed &+ 77)
    let users = [Samples.dennis.userID, Samples.mara.userID, Shop.customer]
    do {
      for (number, user) in (users + [Samples.mara.userID]).enumerated() {
        _ = try androids.add(
          id: "a\(number)", userID: user, name: user.text, packageName: nil, mint: &mint)
      }
      for (number, user) in [users[0], users[1], users[1]].enumerated() {
        _ = try browsers.add(
          id: "b\(number)", userID: user, name: user.text, vapidKey: vapidKey, mint: &mint)
      }
    } catch {
      preconditionFailure("\(error)")
    }
  }

  var ids: [String] { androids.ids + browsers.ids }

  func owner(of id: String) -> UserID? {
    androids.phones[id]?.identity.userID ?? browsers.browsers[id]?.identity.userID
  }

  func isOnline(_ id: String) -> Bool {
    androids.phones[id]?.isOnline ?? browsers.browsers[id]?.isOnline ?? false
  }

  func androids(of user: UserID) -> [AndroidPhone] {
    androids.ids.compactMap { androids.phones[$0] }.filter { $0.identity.userID == user }
  }

  /// What its app or page tells the API when it is opened.
  func registrations(of id: String) -> [PhoneCall] {
    if let phone = androids.phones[id] { return phone.isInstalled ? [phone.registration] : [] }
    guard let browser = browsers.browsers[id], browser.isSubscribed else { return [] }
    return [
      PhoneCall(
        path: "/api/webpush/subscriptions",
        body: browser.identity.subscriptionJSON(origin: "https://\(Self.pushHost)"))
    ]
  }

  // MARK: What comes

  func arrive(_ body: Data) -> FCMOutcome {
    let message: FCMMessage
    do {
      message = try FCMMessage(body: Array(body))
    } catch {
      complaints.append("FCM: \(error)")
      return .answered(FCMAnswer(status: 400, errorCode: "INVALID_ARGUMENT", words: "\(error)"))
    }
    guard let id = androids.id(ofToken: message.token), androids.phones[id]?.isInstalled == true
    else { return .answered(FCMAnswer(status: 404, errorCode: "UNREGISTERED")) }
    let now = time.now()
    note(androids.act(on: id) { $0.receive(message, at: now) }, of: id)
    chaos.note("\(time.elapsed()) \(id) gets \(Self.words(message))")
    return .answered(FCMAnswer(status: 200))
  }

  static func words(_ message: FCMMessage) -> String {
    "fcm \(message.data["event"] ?? "") rev \(message.rev ?? 0) \(message.collapseKey ?? "")"
  }

  func arrive(
    _ body: Data, at subscription: String, ttl: Int64, topic: String
  ) -> WebPushOutcome {
    guard let id = browsers.id(ofSubscription: subscription),
      browsers.browsers[id]?.isSubscribed == true
    else { return .answered(WebPushAnswer(status: 410)) }
    let push = AcceptedWebPush(
      ttl: ttl, urgency: "high", topic: topic, body: Array(body), arrivedAt: time.now())
    note(browsers.act(on: id) { $0.receive(push) }, of: id)
    chaos.note("\(time.elapsed()) \(id) gets \(topic)")
    return .answered(WebPushAnswer(status: 201))
  }

  private func note(_ findings: [Finding]?, of id: String) {
    complaints += (findings ?? []).map { "\(id): \($0.rule.rawValue): \($0.detail)" }
  }

  // MARK: What their owners do

  func goOffline(_ id: String) {
    _ = androids.act(on: id) { $0.goOffline() }
    _ = browsers.act(on: id) {
      $0.goOffline()
      return []
    }
  }

  func goOnline(_ id: String) {
    guard !isOnline(id) else { return }
    let now = time.now()
    note(androids.act(on: id) { $0.goOnline(at: now) }, of: id)
    note(browsers.act(on: id) { $0.goOnline(at: now) }, of: id)
  }

  /// - Returns: what the app tells the API.
  func dismiss(_ id: String) -> [PhoneCall] { androids.act(on: id) { $0.dismiss(nil) } ?? [] }

  /// The app, or the permission to show notifications, is taken away; nobody is told.
  func leave(_ id: String) {
    chaos.note("\(id) leaves")
    _ = androids.act(on: id) { $0.uninstall() }
    _ = browsers.act(on: id) {
      $0.unsubscribe()
      return []
    }
  }
}

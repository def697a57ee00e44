import Cryptography
import Foundation
import Pushes
import Simulator
import TestSupport
import Testing
import Vocabulary

/// A page of the web app, its worker, and a subscription that the stand-in made for it.
final class OpenedWebApp {
  let running: RunningSimulator
  let subscription: NewBrowser
  let chromium: Chromium
  let page: ChromiumTarget

  init(grants: Bool = true) throws {
    running = try RunningSimulator()
    subscription = try running.addBrowser("jaqueline")
    chromium = try Chromium()
    let permission = JSONValue.string(grants ? "granted" : "denied")
    try chromium.command(
      "Browser.setPermission",
      [
        "permission": ["name": "notifications"], "setting": permission,
        "origin": .string(running.control),
      ])
    running.api.tell(Self.answers(resolved: false))
    let token = JSONWebToken.signed(
      claims: ["sub": "jaqueline"], with: Making.key, keyID: nil)
    page = try ChromiumTarget.page(
      chromium, url: "\(running.control)/app/#token=\(token)",
      script: Self.subscribing(as: subscription.subscription))
    try page.command("Log.enable")
    try page.command("ServiceWorker.enable")
  }

  /// A headless Chromium reaches no push service; everything else of subscribing is real.
  private static func subscribing(as subscription: JSONValue) -> String {
    let json = String(decoding: subscription.encoded, as: UTF8.self)
    return """
      window.heard = 0;
      navigator.serviceWorker.addEventListener("message", () => { window.heard += 1; });
      PushManager.prototype.subscribe = async function (options) {
        window.asked = { visible: options.userVisibleOnly,
          key: [...new Uint8Array(options.applicationServerKey)] };
        return { toJSON: () => (\(json)), unsubscribe: async () => true };
      };
      """
  }

  /// One answer for everything the page asks.
  static func answers(resolved: Bool) -> JSONValue {
    [
      "public_key": .string(Pushing.key.id), "id": "cs_abc", "date": "2026-06-18",
      "status_label": resolved ? "Planung beendet" : "Dennis füllt aus",
      "ended": resolved ? true : nil,
      "participants": [
        ["user_id": "dennis", "name": "Dennis", "emoji": "🐢", "status": "joined"],
        ["user_id": "jaqueline", "name": "Jaqueline", "emoji": "🐠", "status": "invited"],
      ],
      "notifications": [
        [
          "id": "n1", "type": "cooksuggest.invitation", "title": "Plan mit Dennis das Essen",
          "body": "Tippe, um mitzuplanen", "icon": "✨", "link": "/cook-suggest/cs_abc",
          "dedupe_key": .string(Pushing.dedupeKey), "resolved": resolved ? 1 : 0,
          "resolved_reason": resolved ? "ttl" : nil, "created_at": "2026-06-18T12:00:00Z",
          "seen_at": nil, "read_at": nil,
        ]
      ], "next": nil,
    ]
  }

  func text(_ id: String) -> String { "document.getElementById('\(id)').textContent" }

  /// Presses "turn notifications on", and waits until it is done.
  func turnOn() throws {
    #expect(page.becomes("document.getElementById('subscribe').hidden", false))
    #expect(page.becomes(text("status"), ""))
    #expect(page.becomes("navigator.serviceWorker.controller !== null", true))
    _ = try page.value("document.getElementById('subscribe').click()")
    #expect(page.becomes(text("status"), "Mitteilungen sind an."))
  }

  /// Hands the worker a `push` event, and waits until it says that it has shown it: looking for
  /// a notification that is just being shown makes Chromium forget it.
  func push(_ text: String) throws {
    let updated = try chromium.event("ServiceWorker.workerRegistrationUpdated") { event in
      guard case .array(let all)? = event.params["registrations"] else { return false }
      return !all.isEmpty
    }
    guard case .array(let all)? = updated.params["registrations"],
      let registration = all.first?["registrationId"]
    else { throw Chromium.Trouble(description: "no registration") }
    guard case .integer(let heard) = try page.value("window.heard") else {
      throw Chromium.Trouble(description: "the page counts nothing")
    }
    try page.command(
      "ServiceWorker.deliverPushMessage",
      [
        "origin": .string(running.control), "registrationId": registration,
        "data": .string(text),
      ])
    #expect(page.becomes("window.heard", .integer(heard + 1)))
  }

  /// What the service decrypted last, as the browser would get it.
  func decrypted() throws -> String {
    let view = try running.call("GET", "/browsers/\(subscription.id)").1
    guard case .array(let shown)? = view["notifications"], let payload = shown.first?["payload"]
    else { throw Chromium.Trouble(description: "nothing was decrypted: \(view)") }
    return String(decoding: payload.encoded, as: UTF8.self)
  }

  /// The worker's own place of running.
  func worker() throws -> ChromiumTarget {
    let all = try chromium.command("Target.getTargets")
    guard case .array(let targets)? = all["targetInfos"],
      let worker = targets.first(where: { $0["type"] == "service_worker" })
    else { throw Chromium.Trouble(description: "no worker among \(all)") }
    return try ChromiumTarget(chromium, id: worker["targetId"] ?? .null)
  }

  /// Clicks the newest notification, as far as a browser without a screen lets one: the worker's
  /// real handler runs, on an event that was not born of a finger.
  func click(before: String = "") throws -> JSONValue {
    try worker().value(
      """
      (async () => {
        \(before)
        const [notification] = await registration.getNotifications();
        const event = new NotificationEvent("notificationclick", { notification });
        let done;
        Object.defineProperty(event, "waitUntil", { value: (promise) => { done = promise; } });
        dispatchEvent(event);
        await done;
        return (await registration.getNotifications()).length;
      })()
      """)
  }

  static let shown = """
    navigator.serviceWorker.ready.then((ready) => ready.getNotifications()).then((all) =>
      all.map((one) => [one.title, one.body, one.tag, one.lang, one.icon, one.data?.navigate]))
    """

  var errors: [String] {
    chromium.events.filter {
      $0.method == "Log.entryAdded" && $0.params["entry"]?["level"] == "error"
    }.map { String(decoding: $0.params.encoded, as: UTF8.self) }
  }

  func keepScreenshot(_ name: String, of target: ChromiumTarget? = nil) throws {
    guard let place = ProcessInfo.processInfo.environment["LOCKSTEP_SCREENSHOTS"] else { return }
    try (target ?? page).screenshot().write(to: URL(fileURLWithPath: "\(place)/\(name).png"))
  }
}

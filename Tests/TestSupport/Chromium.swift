import Foundation
import Glibc
import Vocabulary

/// A headless Chromium, spoken to by the DevTools protocol over its own pipe: JSON texts, each
/// ended by a zero octet. Owned by one thread.
package final class Chromium {
  package static let path = "/usr/bin/chromium"
  /// How long one command may take, and one wait.
  package static let patience = Duration.seconds(20)

  package struct Trouble: Error, CustomStringConvertible {
    package let description: String
    package init(description: String) { self.description = description }
  }

  package struct Event {
    package let method: String
    package let params: JSONValue
    package let session: String?
  }

  private let process = Process()
  private let toBrowser = Pipe()
  private let fromBrowser = Pipe()
  private let profile: URL
  private var unread = Data()
  private var commands: Int64 = 0
  /// What happened, oldest first.
  package private(set) var events: [Event] = []

  /// - Throws: ``Trouble`` when there is no Chromium: install it with `deploy/install tests`.
  package init() throws {
    guard FileManager.default.isExecutableFile(atPath: Self.path) else {
      throw Trouble(description: "\(Self.path) is missing: deploy/install tests installs it")
    }
    profile = FileManager.default.temporaryDirectory
      .appendingPathComponent("chromium-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: profile, withIntermediateDirectories: true)
    process.executableURL = URL(fileURLWithPath: "/bin/bash")
    // Chromium listens on descriptor 3 and answers on 4.
    let options = [
      "--headless", "--no-sandbox", "--remote-debugging-pipe", "--disable-gpu", "--lang=de-DE",
      "--accept-lang=de-DE",
      "--no-first-run", "--hide-scrollbars", "--disable-component-update",
      "--disable-background-networking", "--user-data-dir=\(profile.path)", "about:blank",
    ]
    process.arguments =
      [
        "-c", "exec \"$0\" \"$@\" 3<&0 4>&1 >/dev/null 2>\"$PROFILE/log\"", Self.path,
      ] + options
    process.environment = ProcessInfo.processInfo.environment
      .merging(["PROFILE": profile.path, "LANGUAGE": "de", "LANG": "C.UTF-8"]) { $1 }
    process.standardInput = toBrowser
    process.standardOutput = fromBrowser
    try process.run()
  }

  deinit {
    if process.isRunning {
      // It ends itself and its children in good order; if it is gone already, all the better.
      _ = try? command("Browser.close")
      if !becomesTrue(within: .seconds(5), { !process.isRunning }) {
        kill(process.processIdentifier, SIGKILL)
      }
    }
    process.waitUntilExit()
    // Children may still write for a moment; what stays in the temporary place harms nobody.
    _ = becomesTrue(within: .seconds(2)) {
      (try? FileManager.default.removeItem(at: profile)) != nil
    }
  }

  /// Gives one command and waits for its answer.
  @discardableResult
  package func command(_ method: String, _ params: JSONValue = [:], in session: String? = nil)
    throws
    -> JSONValue
  {
    commands += 1
    let id = commands
    var message: [String: JSONValue] = [
      "id": .integer(id), "method": .string(method), "params": params,
    ]
    if let session { message["sessionId"] = .string(session) }
    try toBrowser.fileHandleForWriting.write(contentsOf: JSONValue.object(message).encoded + [0])
    let end = ContinuousClock.now + Self.patience
    while ContinuousClock.now < end {
      guard let answer = try next(within: .milliseconds(100)) else { continue }
      guard answer["id"] == .integer(id) else { continue }
      if let error = answer["error"] {
        throw Trouble(description: "\(method): \(String(decoding: error.encoded, as: UTF8.self))")
      }
      return answer["result"] ?? .null
    }
    throw Trouble(description: "\(method) was not answered within \(Self.patience)")
  }

  /// Waits for an event that fits, one that has come already too.
  package func event(_ method: String, where fits: (Event) -> Bool = { _ in true }) throws -> Event
  {
    let end = ContinuousClock.now + Self.patience
    while ContinuousClock.now < end {
      if let found = events.first(where: { $0.method == method && fits($0) }) { return found }
      _ = try next(within: .milliseconds(100))
    }
    throw Trouble(description: "no \(method) within \(Self.patience)")
  }

  /// The next message; events are kept.
  private func next(within limit: Duration) throws -> JSONValue? {
    let descriptor = fromBrowser.fileHandleForReading.fileDescriptor
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while !unread.contains(0) {
      guard poll(&watched, 1, Int32(limit.milliseconds)) > 0 else { return nil }
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else { throw Trouble(description: "Chromium has ended: \(log)") }
      unread.append(contentsOf: bytes.prefix(count))
    }
    guard let end = unread.firstIndex(of: 0) else { return nil }
    let message = try JSONValue(parsing: Data(unread[unread.startIndex..<end]))
    unread = Data(unread[(end + 1)...])
    if case .string(let method)? = message["method"] {
      var session: String?
      if case .string(let id)? = message["sessionId"] { session = id }
      events.append(
        Event(method: method, params: message["params"] ?? .null, session: session))
    }
    return message
  }

  private var log: String {
    let file = profile.appendingPathComponent("log")
    // Without a log there is nothing to tell.
    return String(((try? String(contentsOf: file, encoding: .utf8)) ?? "").suffix(500))
  }
}

/// One page or worker of a browser.
package final class ChromiumTarget {
  package let browser: Chromium
  package let session: String

  /// Attaches to a target that is there.
  package init(_ browser: Chromium, id: JSONValue) throws {
    self.browser = browser
    let answer = try browser.command(
      "Target.attachToTarget", ["targetId": id, "flatten": true])
    guard case .string(let session)? = answer["sessionId"] else {
      throw Chromium.Trouble(description: "no session for \(id)")
    }
    self.session = session
    try command("Runtime.enable")
  }

  /// A new page of a phone's width. `script` runs before the page's own.
  package static func page(
    _ browser: Chromium, url: String, script: String = "", width: Int64 = 420, height: Int64 = 640
  ) throws -> ChromiumTarget {
    let made = try browser.command("Target.createTarget", ["url": "about:blank"])
    let page = try ChromiumTarget(browser, id: made["targetId"] ?? .null)
    try page.command("Page.enable")
    try page.command(
      "Emulation.setDeviceMetricsOverride",
      [
        "width": .integer(width), "height": .integer(height), "deviceScaleFactor": 1,
        "mobile": false,
      ])
    if !script.isEmpty {
      try page.command("Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)])
    }
    try page.command("Page.navigate", ["url": .string(url)])
    return page
  }

  @discardableResult
  package func command(_ method: String, _ params: JSONValue = [:]) throws -> JSONValue {
    try browser.command(method, params, in: session)
  }

  /// The value of an expression, awaited, with the rights of a click.
  package func value(_ expression: String) throws -> JSONValue {
    let answer = try command(
      "Runtime.evaluate",
      [
        "expression": .string(expression), "awaitPromise": true, "returnByValue": true,
        "userGesture": true,
      ])
    if let exception = answer["exceptionDetails"] {
      let words = String(decoding: exception.encoded.prefix(600), as: UTF8.self)
      throw Chromium.Trouble(description: "\(expression): \(words)")
    }
    return answer["result"]?["value"] ?? .null
  }

  /// Waits until an expression has a value; a page that is just leaving is asked again.
  package func becomes(_ expression: String, _ wanted: JSONValue) -> Bool {
    becomesTrue(within: Chromium.patience) { (try? value(expression)) == wanted }
  }

  /// PNG.
  package func screenshot() throws -> Data {
    let answer = try command("Page.captureScreenshot", ["format": "png"])
    guard case .string(let text)? = answer["data"], let data = Data(base64Encoded: text) else {
      throw Chromium.Trouble(description: "no screenshot")
    }
    return data
  }
}

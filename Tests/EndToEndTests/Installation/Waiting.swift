import Foundation
import HTTPClient
import TestSupport
import Testing
import Vocabulary

extension Installation {
  /// How many messages each queue holds that holds some, as the broker knew a moment ago.
  func waitingMessages() throws -> [String: Int] {
    let answer = try broker.manage(
      "GET", "/api/queues/\(broker.virtualHost)?columns=name,messages")
    guard case .array(let queues) = try JSONValue(parsing: answer.body) else { return [:] }
    return queues.reduce(into: [:]) { found, queue in
      guard let name = queue["name"]?.text, let count = queue["messages"]?.whole, count > 0,
        // Nobody reads it here.
        name != "kitchen"
      else { return }
      found[name] = count
    }
  }

  /// From now on a failed message waits for seconds only. Call it before ``applyTopology()``.
  func useShortRungs(_ rungs: String = "1s, 2s, 4s, 8s, 16s, 32s") throws {
    let text = try String(contentsOf: Programs.queuesFile, encoding: .utf8)
    let file = directory.appending(path: "queues.yaml")
    try Data(text.replacing(#/rungs: \[.*?\]/#, with: "rungs: [\(rungs)]").utf8)
      .write(to: file)
    settings["LOCKSTEP_QUEUES_FILE"] = file.path(percentEncoded: false)
  }
}

extension Installation {
  /// What the process of a role holds in memory now.
  func residentMemory_KiB(of role: Role) throws -> Int {
    let pid = try #require(children[role]?.pid)
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
    let words = line.split(whereSeparator: \.isWhitespace)
    return try #require(words.dropFirst().first.flatMap { Int($0) }, "\(line)")
  }
}

extension Installation {
  /// Browsers are told as well: makes a key, and names the web app.
  func offerWebPush() throws {
    let file = directory.appending(path: "vapid.pem").path(percentEncoded: false)
    let made = try Programs.lockstep("vapid", "generate", "--to=\(file)")
    try #require(made.code == 0, "\(made.errors)")
    settings["LOCKSTEP_VAPID_KEY_FILE"] = file
    settings["LOCKSTEP_VAPID_SUBJECT"] = "mailto:push@app.example"
    settings["LOCKSTEP_WEB_ORIGIN"] = "https://app.example"
  }

  /// The simulator's push service is allowed besides, and trusted. Call it before the API starts.
  func offerSimulatedWebPush() throws {
    try offerWebPush()
    settings["LOCKSTEP_WEBPUSH_ALLOW"] = "localhost:\(webPushPort)"
    settings["LOCKSTEP_WEBPUSH_CA_FILE"] = settings["LOCKSTEP_APNS_CA_FILE"]
  }
}

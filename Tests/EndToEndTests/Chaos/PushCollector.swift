import Foundation
import HTTPClient
import ServiceRuntime
import Synchronization
import TestSupport
import Vocabulary

/// Collects what comes to the stand-in for APNs before the stand-in forgets it. One thread asks.
final class PushCollector: Sendable {
  private struct Content {
    var pushes: [ReceivedPush] = []
    var newest = 0
    /// Forgotten before they were asked for.
    var missed = 0
    var isOver = false
  }

  private let content: ContentBox

  private final class ContentBox: Sendable {
    let content = Mutex(Content())
  }

  init(simulatorURL: String) {
    let content = ContentBox()
    self.content = content
    OwnedThread.start(named: "push-collector") {
      let client = HTTPClient(timeout: .seconds(30))
      while !content.content.withLock({ $0.isOver }) {
        Self.collect(simulatorURL, client, content)
        _ = becomesTrue(within: .milliseconds(100)) { content.content.withLock { $0.isOver } }
      }
    }
  }

  deinit { content.content.withLock { $0.isOver = true } }

  var pushes: [ReceivedPush] { content.content.withLock { $0.pushes } }
  var missed: Int { content.content.withLock { $0.missed } }

  private static func collect(_ url: String, _ client: HTTPClient, _ box: ContentBox) {
    let after = box.content.withLock { $0.newest }
    guard
      // The simulator is struck by nothing; while it starts there is nothing to collect.
      let answer = try? client.send("GET", "\(url)/pushes?limit=5000&after=\(after)"),
      case .array(let all)? = try? JSONValue(parsing: answer.body)
    else { return }
    let numbers = all.compactMap { $0["number"]?.whole }
    box.content.withLock { content in
      if let first = numbers.first { content.missed += first - content.newest - 1 }
      content.newest = numbers.last ?? content.newest
      content.pushes += all.compactMap { ReceivedPush($0) }
    }
  }
}

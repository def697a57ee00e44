import Foundation
import TestSupport
import Testing
import Vocabulary

/// Sessions that go on all the time, each with its own pair of people; one mutation a call.
final class Play {
  private let installation: Installation
  private(set) var sessions: [CookSession] = []
  private(set) var picks = 0
  /// The newest rev that was answered for, by session.
  private(set) var revs: [String: Int] = [:]

  init(_ installation: Installation, sessions count: Int) throws {
    self.installation = installation
    for _ in 0..<count { try begin() }
  }

  func begin() throws {
    let session = try CookSession.begin(in: installation)
    try session.playToProposals()
    sessions.append(session)
  }

  /// Jaqueline dithers.
  func pick() throws {
    let session = sessions[picks % sessions.count]
    let turn = picks / sessions.count
    let answer = try session.act(
      "jaqueline", "pick", ["proposal_id": .string("p\(turn % 2 + 1)")])
    picks += 1
    let rev = try #require(answer["rev"]?.whole)
    #expect(rev > revs[session.id] ?? 0, "what was answered for stays")
    revs[session.id] = rev
  }

  /// Two picks in each session, of which one at least changes something: what was picked last
  /// is not known any more.
  func pickAfterRestore() throws {
    revs = [:]
    let before = try sessions.map { try $0.rev() }
    for _ in 0..<2 {
      for session in sessions {
        let other = picks / sessions.count % 2 + 1
        try session.act("jaqueline", "pick", ["proposal_id": .string("p\(other)")])
        picks += 1
      }
    }
    for (session, rev) in zip(sessions, before) { #expect(try session.rev() > rev) }
  }

  static let picksAtOnce = 8
  func dither() throws { for _ in 0..<Self.picksAtOnce { try pick() } }

  func decide() throws { for session in sessions { try session.playToDecision() } }
}

extension Installation {
  /// Every phone shows the truth; each session was announced once and began once on a phone.
  func expectAllArrived(sessions: Int) throws {
    var verdict = JSONValue.null
    do {
      try wait(for: "every phone to show the truth") {
        verdict = try phones.verdict()
        let faults = ["different", "missing", "overdue_banners", "calls_waiting"]
        return verdict["compared"]?.whole == sessions && verdict["unknown"] == []
          && faults.allSatisfy { verdict[$0] == 0 }
      }
    } catch {
      throw Unexpected("verdict: \(String(decoding: verdict.encoded, as: UTF8.self))\n\(error)")
    }
    // Two senders may be turned round within a second; the newest is sent once more (README,
    // Limits). Nothing else may be complained of.
    #expect(verdict["complaint_count"] == verdict["older_shown"], "\(verdict)")
    #expect(verdict["doubled_starts"] == 0)
    #expect(verdict["starts"]?.whole == sessions)
    #expect(verdict["sounds"]?.whole == sessions, "each invitation is heard once")
    for queue in ["dead.build", "dead.apns", "dead.notify", "unroutable"] {
      #expect(try messages(in: queue).isEmpty, "\(queue)")
    }
  }

  /// Each rev of each session as one event, none missing, in its order, and none twice.
  ///
  /// `died`: a relay or its database did not end in good order. What the broker had confirmed and
  /// the outbox not yet forgotten is carried again then: the same event, to the letter.
  func expectEachEventOnce(_ play: Play, died: Bool = false) throws {
    let wanted = try play.sessions.map { try $0.rev() }.reduce(0, +)
    var seen: [String: [(rev: Int, event: JSONValue)]] = [:]
    for entry in try recorded(atLeast: wanted) {
      guard let session = entry.event["data"]?["session"] else { continue }
      seen[session["id"]?.text ?? "", default: []]
        .append((session["rev"]?.whole ?? 0, entry.event))
    }
    for session in play.sessions {
      var events: [Int: JSONValue] = [:]
      var revs: [Int] = []
      for (rev, event) in seen[session.id] ?? [] {
        if let first = events[rev] {
          #expect(died && event == first, "doubled: \(session.id), rev \(rev)")
        } else {
          events[rev] = event
          revs.append(rev)
        }
      }
      #expect(Set(revs) == Set(1...(try session.rev())), "lost: \(session.id)")
      #expect(revs == revs.sorted(), "out of order: \(session.id)")
    }
  }
}

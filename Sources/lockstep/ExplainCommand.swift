import Foundation
import Pipeline
import ServiceRuntime
import Sessions
import Vocabulary

/// `lockstep explain SESSION`: what happened to one session, in words, from the database alone.
enum ExplainCommand {
  static let options: [(flag: String, help: String)] = [
    ("--user=", "only this person's phone. Default: everybody's"),
    ("--json", "an array of flat objects; the answers are its last"),
  ]

  static func run(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let address = StoreWiring.address(reading: &settings)
    // A job from outside may bear an empty name; nobody who asks means it.
    guard let name = invocation.arguments.words.first, !name.isEmpty,
      invocation.arguments.words.count == 1
    else { throw CommandFailure(.usage, "explain wants one session: lockstep explain cs_…") }
    guard settings.problems.isEmpty, let address else { throw Reading.failure(settings) }
    let user = invocation.arguments.options["user"].map { UserID($0) }
    let history = try history(of: SessionID(name), for: user, in: address)
    let now = SystemTime().now()
    let timeline = Timeline(history, for: user, now: now)
    if invocation.arguments.options["json"] != nil {
      print(TimelineText.table(timeline, now: now).json)
    } else {
      let style = Style(environment: invocation.environment)
      print(TimelineText.text(timeline, of: history, now: now, style))
    }
  }

  /// - Throws: ``CommandFailure``, `noInput` when nothing is known of the session, or `user` takes
  ///   no part in it.
  static func history(of id: SessionID, for user: UserID?, in address: StoreWiring.Address) throws
    -> SessionHistory
  {
    let store = try StoreWiring.look(address)
    let history = try StoreWiring.using(address) {
      try store.read { try SessionHistory(of: id, in: $0) }
    }
    let name = id.text.prefix(200)
    guard !history.isEmpty else {
      throw CommandFailure(
        .noInput, "nothing is known of session \(name): it never was here, or its records are old")
    }
    if let user, !history.users.contains(user) {
      let users = history.users.map(\.text).joined(separator: ", ")
      throw CommandFailure(
        .noInput, "\(user.text.prefix(200)) takes no part in \(name); there are: \(users)")
    }
    return history
  }
}

/// A timeline as text and as a table.
enum TimelineText {
  static func text(
    _ timeline: Timeline, of history: SessionHistory, now: UnixTime, _ style: Style
  ) -> String {
    var lines = [style.strong(head(history).visible)]
    let begun = timeline.entries.first?.at ?? now
    lines.append("from \(begun), \(Spans.text(now - begun)) ago")
    lines.append("")
    let users = timeline.entries.map { $0.source == .api ? "" : $0.userID?.text.visible ?? "" }
    let userWidth = users.map(\.count).max() ?? 0
    let spans = timeline.entries.map { "+" + Spans.text($0.at - begun) }
    let spanWidth = spans.map(\.count).max() ?? 0
    for ((entry, user), span) in zip(zip(timeline.entries, users), spans) {
      let source = padded(entry.source.rawValue, 7)
      lines.append(
        style.faint("\(entry.at)  \(padded(span, spanWidth, atFront: true))")
          + "  \(source)  \(padded(user, userWidth))  \(entry.text.visible)")
    }
    if timeline.entries.isEmpty {
      lines.append("no records: they are older than LOCKSTEP_RECORDS_DAYS")
    }
    lines.append("")
    lines.append("Why does the phone not show rev \(history.newestRev)?")
    for answer in timeline.answers {
      let text =
        answer.showsNewest ? style.good(answer.text.visible) : style.bad(answer.text.visible)
      lines.append("  \(answer.userID.text.visible): \(text)")
    }
    return lines.joined(separator: "\n")
  }

  static func head(_ history: SessionHistory) -> String {
    guard let session = history.session else { return "\(history.id): not kept here" }
    let people = session.participants.map { "\($0.userID) (\($0.status.rawValue))" }
    let end = session.endReason.map { ", because: \($0.rawValue)" } ?? ""
    return "\(session.id): \(session.state.rawValue), rev \(session.rev)\(end); "
      + people.joined(separator: ", ")
  }

  private static func padded(_ text: String, _ width: Int, atFront: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return atFront ? space + text : text + space
  }

  /// The answers come last, with `source` answer.
  static func table(_ timeline: Timeline, now: UnixTime) -> Table {
    var table = Table([
      "at", "after_ms", "source", "user_id", "rev", "token_fingerprint", "text", "shows_newest",
    ])
    let begun = timeline.entries.first?.at ?? now
    for entry in timeline.entries {
      table.add([
        .string(entry.at.rfc3339), .integer((entry.at - begun).milliseconds),
        .string(entry.source.rawValue), .text(entry.userID?.text),
        entry.rev.map { .integer(Int64($0)) } ?? .null, .text(entry.tokenFingerprint),
        .string(entry.text), .null,
      ])
    }
    for answer in timeline.answers {
      table.add([
        .string(now.rfc3339), .integer((now - begun).milliseconds), "answer",
        .string(answer.userID.text), .null, .null, .string(answer.text),
        .bool(answer.showsNewest),
      ])
    }
    return table
  }
}

extension JSONValue {
  /// Null without a text.
  static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}

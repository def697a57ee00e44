import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Vocabulary

/// One look at the queues as a table for people and as JSON.
struct ShownQueues {
  private let board: QueueBoard
  let troubles: [QueueTrouble]

  init(_ board: QueueBoard) {
    self.board = board
    troubles = board.troubles(reader: Self.reader)
  }

  /// Who reads the queue of an owner.
  private static func reader(_ owner: String) -> String {
    WorkerRole.all.first { $0.stage.rawValue == owner }?.name ?? "what reads \(owner)"
  }

  // MARK: For people

  func text(_ style: Style) -> String {
    var table = Table([
      "queue", "depth", "unacked", "in/s", "out/s", "oldest", "consumers", "retrying", "dead",
    ])
    for row in board.rows {
      table.add([
        .string(row.queue.name), Self.count(row.depth), Self.count(row.unacked),
        .text(row.rates.map { QueueBoard.Row.rate($0.arriving) }),
        .text(row.rates.map { QueueBoard.Row.rate($0.leaving) }), .string(Self.age(row)),
        Self.count(row.consumers), .string(Self.retrying(row)), Self.count(row.dead?.depth),
      ])
    }
    var lines = [table.text(style), ""]
    lines +=
      troubles.isEmpty
      ? [style.good("all is as queues.yaml expects, as far as it is known")]
      : troubles.map { style.bad("\($0)") }
    lines += board.unknown.map { "note: \($0)" }
    if let age = board.statisticsAge {
      lines.append(
        style.faint(
          "depth and consumers are of now; unacked, rates (over 30 s) and ages as of "
            + "\(age.components.seconds) s ago"))
    }
    return lines.joined(separator: "\n")
  }

  private static func count(_ count: Int?) -> JSONValue {
    count.map { .integer(Int64($0)) } ?? .null
  }

  /// `≥ 2 min 5 s`, `< 10 s`; a dash for an empty queue.
  private static func age(_ row: QueueBoard.Row) -> String {
    guard row.depth != 0 || row.unacked ?? 0 > 0 else { return "-" }
    guard let oldest = row.oldest else { return "unknown" }
    if oldest.atLeast > .zero { return "≥ " + words(oldest.atLeast) }
    return oldest.atMost.map { "< " + words($0) } ?? "unknown"
  }

  /// Whole seconds: nothing finer is known.
  private static func words(_ span: Duration) -> String {
    span < .seconds(60) ? "\(span.components.seconds) s" : Spans.text(span)
  }

  /// `12 (5s 10, 30s 2)`.
  private static func retrying(_ row: QueueBoard.Row) -> String {
    row.retrying == 0 ? "0" : "\(row.retrying) (\(rungs(row)))"
  }

  private static func rungs(_ row: QueueBoard.Row) -> String {
    row.rungs.filter { $0.depth > 0 }.map { "\($0.name) \($0.depth)" }.joined(separator: ", ")
  }

  // MARK: For programs

  var json: String { table.json }

  var table: Table {
    var table = Table([
      "queue", "depth", "unacked", "in_per_second", "out_per_second", "oldest_at_least_seconds",
      "oldest_at_most_seconds", "consumers", "retrying", "rungs", "dead", "statistics_age_seconds",
      "trouble",
    ])
    for row in board.rows {
      let broken = troubles.filter { $0.owner == row.owner }.map(\.description)
      table.add([
        .string(row.queue.name), Self.count(row.depth), Self.count(row.unacked),
        Self.number(row.rates?.arriving), Self.number(row.rates?.leaving),
        Self.seconds(row.oldest?.atLeast), Self.seconds(row.oldest?.atMost),
        Self.count(row.consumers), Self.count(row.retrying), .string(Self.rungs(row)),
        Self.count(row.dead?.depth), Self.seconds(board.statisticsAge),
        broken.isEmpty ? .null : .string(broken.joined(separator: " ")),
      ])
    }
    return table
  }

  private static func number(_ value: Double?) -> JSONValue {
    value.map { .number(($0 * 10).rounded() / 10) } ?? .null
  }

  private static func seconds(_ span: Duration?) -> JSONValue {
    span.map { .integer($0.components.seconds) } ?? .null
  }
}

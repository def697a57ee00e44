import Foundation
import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Vocabulary

/// `lockstep queues`: how the queues stand, and whether they are as queues.yaml expects. Looking
/// takes no message and changes nothing.
enum QueuesCommand {
  static let settingNames = BrokerWiring.settingNames + ["AMQP_MANAGEMENT_URL"]
  static let options: [(flag: String, help: String)] = [
    ("--watch", "again every two seconds, in place on a terminal, until Ctrl-C"),
    ("--json", "an array of flat objects; with --watch one a line"),
  ]
  private static let watchEvery: Duration = .seconds(2)

  static func run(_ invocation: Invocation) throws {
    var settings = invocation.settings
    let broker = BrokerWiring(reading: &settings)
    let management = ManagementWiring.optional(&settings, broker: broker)
    guard settings.problems.isEmpty, let broker else { throw Reading.failure(settings) }
    let isWatching = invocation.arguments.options["watch"] != nil
    let stop = StopSignal()
    // Before the first connection: libraries may start threads.
    if isWatching { stop.raiseOnTermination() }
    let watch = QueueWatch(
      broker.topology, at: broker.address, management: management, time: SystemTime())
    defer { watch.close() }
    if isWatching { return watchUntil(stop, watch, invocation) }
    let board: QueueBoard
    do {
      board = try watch.look()
    } catch {
      throw CommandFailure(.unavailable, "\(error)")
    }
    let shown = ShownQueues(board)
    let prints = Prints(invocation)
    print(prints.isJSON ? shown.json : shown.text(Style(environment: invocation.environment)))
    if prints.isJSON { for line in board.unknown { prints.aside("note: \(line)") } }
    if let first = shown.troubles.first {
      let others = shown.troubles.count - 1
      throw CommandFailure(.differs, "\(first)" + (others > 0 ? " (and \(others) more)" : ""))
    }
  }

  private static func watchUntil(
    _ stop: StopSignal, _ watch: QueueWatch, _ invocation: Invocation
  ) {
    let isJSON = invocation.arguments.options["json"] != nil
    let style = Style(environment: invocation.environment)
    let screen = Screen()
    defer { screen.leave() }
    while !stop.isRaised {
      let text: String
      do throws(BrokerLost) {
        let shown = ShownQueues(try watch.look())
        text = isJSON ? shown.json : shown.text(style)
      } catch {
        text = isJSON ? "[]" : style.bad("\(error)")
      }
      let now = SystemTime().now()
      // A reader that has gone, as `head` does, wants nothing more.
      guard screen.show(isJSON ? text : style.faint("\(now)  Ctrl-C ends") + "\n" + text)
      else { return }
      stop.wait(atMost: watchEvery)
    }
  }
}

/// Where `--watch` shows its looks: in place on a terminal, else one below the other.
private struct Screen {
  private let isTerminal = isatty(STDOUT_FILENO) == 1

  /// - Returns: whether it was written.
  func show(_ text: String) -> Bool {
    guard isTerminal else { return StandardStream.output.write(text + "\n") }
    // Cleared from the end of each line and of the text on, so that nothing flickers.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return StandardStream.output.write(
      "\u{1B}[?25l\u{1B}[H" + lines.map { $0 + "\u{1B}[K\n" }.joined() + "\u{1B}[J")
  }

  func leave() { if isTerminal { StandardStream.output.write("\u{1B}[?25h") } }
}

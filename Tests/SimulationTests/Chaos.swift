import TestSupport
import Vocabulary

/// What goes wrong and when, in which order things happen: all decided by one seeded random. While
/// it is off nothing goes wrong any more.
final class Chaos {
  /// How deep others may act between two effects of one process: they then act between its effects
  /// too, as on another machine.
  private static let depthMax = 2

  var random: SeededRandom
  var isOn = true
  /// Somebody else acts now.
  var onInterlude: () -> Void = {}
  private var depth = 0
  /// FNV-1a over all that happened: the same for the same seed.
  private(set) var digest: UInt64 = 0xcbf2_9ce4_8422_2325
  /// What happened, newest last; only kept when asked for.
  private(set) var story: [String] = []
  private let keepsStory: Bool

  init(seed: UInt64, keepsStory: Bool = false) {
    random = SeededRandom(seed: seed)
    self.keepsStory = keepsStory
  }

  /// True once in `count` times, while it is on.
  func strikes(onceIn count: Int) -> Bool { isOn && random.happens(onceIn: count) }

  func number(in range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

  /// Nil when there is none.
  func pick<Element>(among all: [Element]) -> Element? { all.randomElement(using: &random) }

  /// Lets others act in the middle of what somebody does, now and then.
  func interlude(onceIn count: Int) {
    guard depth < Self.depthMax, strikes(onceIn: count) else { return }
    depth += 1
    onInterlude()
    depth -= 1
  }

  /// Writes down what happened: part of the digest, so it may hold nothing that is not decided by
  /// the seed.
  func note(_ line: @autoclosure () -> String) {
    let line = line()
    for byte in line.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
    if keepsStory { story.append(line) }
  }
}

/// The process is dead: none of its effects happens any more.
struct Killed: Error {}

/// One process from its start to its death. SIGKILL may come before and after every effect.
final class Life {
  let name: String
  private let chaos: Chaos
  /// How often somebody else acts between two of its effects.
  private let interludesOnceIn: Int
  private(set) var isOver = false
  /// While it acts, it cannot begin something else.
  var isBusy = false
  /// The ledger's moment at which it last asked the store.
  var lookedAt = 0

  init(_ name: String, chaos: Chaos, interludesOnceIn: Int = 12) {
    self.name = name
    self.interludesOnceIn = interludesOnceIn
    self.chaos = chaos
  }

  func end() { isOver = true }

  /// A moment just before or just after an effect: others may act now, and this process may die.
  func moment(_ effect: @autoclosure () -> String) throws(Killed) {
    if isOver { throw Killed() }
    chaos.interlude(onceIn: interludesOnceIn)
    guard chaos.strikes(onceIn: 120) else { return }
    isOver = true
    let effect = effect()
    chaos.note("\(name) killed \(effect)")
    throw Killed()
  }
}

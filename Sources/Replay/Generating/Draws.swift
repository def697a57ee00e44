/// Numbers by chance, the same again from the same seed: SplitMix64.
struct Draws: RandomNumberGenerator, Sendable {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// True in so many of a hundred cases.
  mutating func happens(percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  /// A time between the two, short ones more often than long ones.
  mutating func span(_ least: Double, _ most: Double) -> Duration {
    let draw = Double.random(in: 0..<1, using: &self)
    return .seconds(least + (most - least) * draw * draw)
  }

  mutating func one<Element>(of elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &self)]
  }
}

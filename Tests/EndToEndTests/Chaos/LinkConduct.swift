/// What the bytes of a link meet on their way. A link joins one role to the broker, or the players
/// to the API.
struct LinkConduct: Hashable, Sendable {
  /// How late every byte comes out at the other end.
  var delay: Duration = .zero
  /// No byte is taken and none is given, and nobody is told: what a pulled cable looks like.
  var isBlackHole = false

  static let clear = LinkConduct()
}

/// What is done to the connections that are open at one moment.
enum LinkBlow: String, Hashable, Sendable, CaseIterable {
  /// Both ends see a reset.
  case cut
  /// Nothing more comes from the server; what the client says still arrives.
  case halfClose
}

/// The bytes that are on their way in one direction, in order.
struct BytesUnderway {
  /// Nothing more is taken while so many wait: the sender feels it.
  static let bytesMax = 1 << 20

  private var chunks: [(due: Duration, bytes: [UInt8])] = []
  private(set) var count = 0
  /// The source has said all it will.
  var isOver = false

  var hasRoom: Bool { count < Self.bytesMax && !isOver }

  /// When the first of them may leave; nil when none waits.
  var nextDue: Duration? { chunks.first?.due }

  mutating func take(_ bytes: [UInt8], at now: Duration, _ conduct: LinkConduct) {
    // A delay that was taken away does not let later bytes overtake earlier ones.
    let due = max(now + conduct.delay, chunks.last?.due ?? .zero)
    chunks.append((due, bytes))
    count += bytes.count
  }

  /// The bytes that may leave now, without taking them away.
  func ready(at now: Duration) -> ArraySlice<UInt8>? {
    guard let first = chunks.first, first.due <= now else { return nil }
    return first.bytes[...]
  }

  /// `sent` of what ``ready(at:)`` gave have left.
  mutating func left(_ sent: Int) {
    count -= sent
    if sent == chunks[0].bytes.count {
      chunks.removeFirst()
    } else {
      chunks[0].bytes.removeFirst(sent)
    }
  }
}

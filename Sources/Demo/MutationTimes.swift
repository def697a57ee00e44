import Pipeline
import Synchronization
import Vocabulary

/// When each mutation was asked for, by session and the rev it made: where the way to the phones
/// begins.
final class MutationTimes: Sendable {
  private struct Place: Hashable {
    let session: String
    let rev: Int
  }

  private let times = Mutex<[Place: UnixTime]>([:])

  /// Does `mutation` and notes when it was asked for.
  func measured(_ mutation: () throws -> JSONValue) rethrows -> JSONValue {
    let asked = Self.now
    let answer = try mutation()
    if case .string(let session)? = answer["id"], case .integer(let rev)? = answer["rev"] {
      times.withLock {
        let place = Place(session: session, rev: Int(rev))
        if $0[place] == nil { $0[place] = asked }
      }
    }
    return answer
  }

  func time(session: String, rev: Int) -> UnixTime? {
    times.withLock { $0[Place(session: session, rev: rev)] }
  }

  static var now: UnixTime { SystemTime().now() }
}

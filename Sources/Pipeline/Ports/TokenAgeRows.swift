import Pushes
import Vocabulary

/// What the age of tokens and the silence of phones tell of tokens that APNs still takes.
package protocol TokenAgeRows {
  /// Marks rows of this kind as pruned that were last registered before `moment`, those of longest
  /// ago first, at most `limit`. They count as pruned at `now`.
  ///
  /// - Returns: how many rows were marked.
  func prune(
    _ kind: TokenKind, registeredBefore moment: UnixTime, because reason: String, at now: UnixTime,
    limit: Int
  ) throws -> Int
  /// The newest start that APNs accepted for this token, when that was at `moment` or earlier and
  /// nothing was heard of its card: no update token was registered, and no phone reported. Nil
  /// when something was, or no start was accepted by then.
  func unheardStart(of token: PushToken, acceptedBy moment: UnixTime) throws -> Start?
}

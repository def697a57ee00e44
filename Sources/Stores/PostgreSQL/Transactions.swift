import Pipeline

/// How a transaction is held apart from others.
///
/// The store's port promises what SQLite's one writer gives: what a transaction read has not
/// changed when it commits. Much leans on it, and not only rows that are read and then written. Two
/// builders, one of them told of a token, the other storing the state that the token is to show: on
/// mere snapshots each would miss the other's row, and the phone would hear nothing. A sender that
/// records an alert, and a notifier that takes it back: each would leave it to the other. So a
/// write is SERIALIZABLE, whatever it touches, and not a set of locks that must be thought of anew
/// with each statement. In particular:
///
/// - a session or activity that is read and saved, or replaced by what was seen: who commits second
///   is turned back, reads the new rev, and decides again. Its event takes its number in that
///   second attempt, so in the outbox the events of one key stand in the order of their revs;
/// - states "only if newer", starts "only if not there", dedupe keys, idempotency keys, leases of
///   the outbox and claims of starts: one row each, and the second to come is turned back;
/// - sessions per user, a card's last token, the mass guard's restoring, the removal of what is
///   old: what was read is watched, also where nothing was found.
///
/// Who is turned back has changed nothing and does its work again, after a pause that grows. What
/// others keep coming between is done alone in the end: every write holds `writers` in a mode that
/// admits others, and the last attempt in one that admits none. It waits for those at work, and
/// then nobody can come between.
///
/// A read sees one moment throughout and clashes with nobody.
enum Access { case read, write, writeAlone }

/// Why a transaction must be done again from its beginning. Nothing of it was kept.
struct Repeatable: Error {
  enum Cause: String, CaseIterable { case clash, loss }

  let cause: Cause
  let error: any Error
}

extension Connection {
  /// Runs `body` in a transaction. Once a statement failed, nothing more is done and nothing is
  /// kept, even if `body` goes on.
  ///
  /// - Throws: ``Repeatable``, ``StoreError``, ``UnstorableValue``, or what `body` threw.
  func transaction<Result>(_ access: Access, _ body: () throws -> Result) throws -> Result {
    forgetFailure()
    var isCommitting = false
    do {
      try begin(access)
      let result = try body()
      if access == .read, !hasUnread, failed == nil {
        try sayFarewell(TransactionSQL.commit)
        return result
      }
      if let failed { throw failure(failed) }
      try run(TransactionSQL.commit)
      isCommitting = true
      try settle()
      return result
    } catch {
      guard let failed else {
        rollBack()
        throw error
      }
      if isUsable { rollBack() }
      // Whether a commit was kept whose answer is lost nobody knows: to do it again is for those
      // who know whether that does harm.
      if failed.isLoss, isCommitting {
        throw StoreError("\(address): lost while committing, perhaps kept: \(failed.reason)")
      }
      let cause: Repeatable.Cause? = failed.isClash ? .clash : failed.isLoss ? .loss : nil
      throw cause.map { Repeatable(cause: $0, error: failure(failed)) } ?? error
    }
  }

  private func begin(_ access: Access) throws {
    switch access {
    case .read: try run(TransactionSQL.beginReading)
    case .write:
      try run(TransactionSQL.beginWriting)
      try run(TransactionSQL.joinWriters)
    case .writeAlone:
      try run(TransactionSQL.beginWriting)
      try run(TransactionSQL.keepWritersOut)
    }
  }

  /// A connection whose rollback fails is of no more use.
  private func rollBack() {
    do {
      // A failure among what is under way has the server pass over everything behind it.
      if hasUnread { try settle() }
    } catch {
      guard isUsable else { return }
    }
    forgetFailure()
    do {
      try run(TransactionSQL.rollBack)
      try settle()
    } catch {
      abandon()
    }
  }
}

enum TransactionSQL: String, SQLText {
  case beginReading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
  case beginWriting = "BEGIN ISOLATION LEVEL SERIALIZABLE"
  // LOCK before anything else: what a transaction sees is settled by its first statement that looks
  // at rows, and this one does not.
  case joinWriters = "LOCK TABLE writers IN ROW SHARE MODE"
  case keepWritersOut = "LOCK TABLE writers IN EXCLUSIVE MODE"
  case commit = "COMMIT"
  case rollBack = "ROLLBACK"
}

import CSQLite
import Glibc

/// What went wrong, for the person who must put it right.
func sqliteReason(_ handle: OpaquePointer?, code: Int32) -> String {
  let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
  let system = handle.map { sqlite3_system_errno($0) } ?? 0
  let cause = system == 0 ? "" : ", \(String(cString: strerror(system)))"
  let detail = "(SQLite \(code): \(message)\(cause))"
  return switch code & 0xff {
  case SQLITE_BUSY: "stayed locked by another writer for too long \(detail)"
  case SQLITE_FULL: "the disk is full \(detail)"
  case SQLITE_READONLY: "cannot be written \(detail)"
  case SQLITE_IOERR: "the disk failed \(detail)"
  case SQLITE_CORRUPT: "is damaged \(detail)"
  case SQLITE_NOTADB: "is not a SQLite database \(detail)"
  case SQLITE_CANTOPEN:
    "cannot be opened: its folder must exist and be writable \(detail)"
  default: "SQLite refused \(detail)"
  }
}

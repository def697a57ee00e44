import CPostgreSQL
import Pipeline

/// Why a statement was not carried out.
struct Failure: Error {
  /// SQLSTATE, five characters; nil when it was not the server that said it.
  let state: String?
  let reason: String

  /// Another transaction came between, and nothing is wrong with this one: done again it may go
  /// through.
  var isClash: Bool { state == "40001" || state == "40P01" }

  /// The server has ended the connection, or cannot be heard any more.
  var isLoss: Bool { state == nil || state == "57P01" || state == "57P02" || state == "57P03" }

  /// A server that has become a standby takes no writes; a new connection may find the primary.
  var isOfStandby: Bool { state == "25006" }

  /// The server is well; a value is none that it can keep: too long for an index, or not UTF-8.
  var isOfValue: Bool { state?.hasPrefix("22") == true || state?.hasPrefix("54") == true }

  /// What the server answered. Of its message only the main line: the details may hold values.
  init(of result: OpaquePointer?, on connection: OpaquePointer) {
    guard let result, let code = lockstep_pq_state(result) else {
      self.init(lossOf: connection)
      return
    }
    let state = String(cString: code)
    let message = lockstep_pq_message(result).map { String(cString: $0) } ?? "no message"
    self.init(state: state, reason: Self.words(state) + " (PostgreSQL \(state): \(message))")
  }

  /// libpq's own words name the host and the user, never the password.
  init(lossOf connection: OpaquePointer?) {
    let text = connection.map { String(cString: PQerrorMessage($0)) } ?? "out of memory"
    let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    self.init(state: nil, reason: "the connection is lost (\(line))")
  }

  init(state: String?, reason: String) {
    self.state = state
    self.reason = reason
  }

  /// For the person who must put it right.
  private static func words(_ state: String) -> String {
    switch (state, state.prefix(2)) {
    case ("53100", _): "the disk is full"
    case ("53300", _): "takes no more connections: raise max_connections, or run fewer processes"
    case ("55P03", _), ("57014", _): "stayed locked, or took too long"
    case ("25006", _): "cannot be written: the server only reads"
    case ("57P01", _), ("57P02", _), ("57P03", _): "the server is going down or coming up"
    case ("42501", _): "this user may not do it"
    case (_, "40"): "others kept coming between"
    case (_, "28"), ("3D000", _): "does not let us in"
    case ("XX001", _), ("XX002", _): "is damaged"
    default: "PostgreSQL refused"
    }
  }
}

/// A value that PostgreSQL cannot keep. No wait mends it, so it is no ``StoreError``: who brought
/// the value has to be left out, not waited for.
package struct UnstorableValue: Error, Hashable, CustomStringConvertible {
  package let reason: String
  package var description: String { reason }
}

import CPostgreSQL
import Glibc

/// Where a database is and who asks: a connection URI of libpq,
/// `postgresql://user:password@host:port/database?sslmode=verify-full`.
///
/// Everything that libpq takes is taken: several hosts, `target_session_attrs`, `sslrootcert`,
/// `options`. What the URI leaves out comes from libpq's own environment variables and from the
/// password file.
package struct PostgreSQLAddress: Hashable, Sendable, CustomStringConvertible {
  package static let schemes = ["postgresql://", "postgres://"]

  /// Ours where the URI says nothing. A dead link must be noticed: the connection is tried for
  /// five seconds, and what is sent has ten to be taken by the other side.
  private static let defaults = [
    "connect_timeout": "5", "tcp_user_timeout": "10000", "keepalives_idle": "10",
    "keepalives_interval": "5", "keepalives_count": "3", "fallback_application_name": "lockstep",
  ]

  let parameters: [String: String]

  /// - Throws: ``Malformed``, which shows nothing of the URI: it may hold a password.
  package init(parsing uri: String) throws {
    guard Self.schemes.contains(where: uri.hasPrefix), !uri.utf8.contains(0) else {
      throw Malformed()
    }
    var complaint: UnsafeMutablePointer<CChar>?
    let options = PQconninfoParse(uri, &complaint)
    defer {
      PQconninfoFree(options)
      PQfreemem(complaint)
    }
    guard var option = options else { throw Malformed() }
    var given: [String: String] = [:]
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val {
        given[String(cString: keyword)] = String(cString: value)
      }
      option += 1
    }
    parameters = Self.defaults.merging(given) { _, own in own }
      .merging(["client_encoding": "UTF8"]) { _, ours in ours }
  }

  package struct Malformed: Error, CustomStringConvertible {
    package let description =
      "want postgresql://user:password@host:port/database, what is special in the user or the"
      + " password (: / @ ? # %) percent-encoded"
  }

  /// Without the password.
  package var description: String {
    let hosts = parameters["host"] ?? parameters["hostaddr"] ?? "localhost"
    let port = parameters["port"].map { ":\($0)" } ?? ""
    return "postgresql://\(hosts)\(port)/\(parameters["dbname"] ?? "")"
  }

  /// An open connection, or one that has failed; the caller ends it.
  func connect() -> OpaquePointer? {
    let keywords = parameters.keys.sorted()
    let texts = keywords.map { strdup($0) } + keywords.map { strdup(parameters[$0] ?? "") }
    defer { for text in texts { free(text) } }
    let names = texts.prefix(keywords.count).map { UnsafePointer($0) } + [nil]
    let values = texts.suffix(keywords.count).map { UnsafePointer($0) } + [nil]
    return PQconnectdbParams(names, values, 0)
  }
}

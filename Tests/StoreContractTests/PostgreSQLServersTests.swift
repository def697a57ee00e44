import Foundation
import Pipeline
import PostgreSQLStore
import Sessions
import TestSupport
import Testing

/// Servers as others run them: behind TLS, and in pairs.
@Suite struct PostgreSQLServersTests {
  @Test func `only a server with the right name and authority is spoken to`() throws {
    let server = try PrivateDatabase(prepare: Certificates.make)
    let url = try server.url
    let named = url.replacing("127.0.0.1", with: "localhost")
    let password = try #require(url.split(separator: ":")[2].split(separator: "@").first)
    func address(_ url: String, authority: String) throws -> PostgreSQLAddress {
      let file = server.directory.appending(path: "tls/\(authority).pem")
      let path = file.path(percentEncoded: false)
      return try PostgreSQLAddress(parsing: "\(url)?sslmode=verify-full&sslrootcert=\(path)")
    }
    let right = try address(named, authority: "ca")
    let store = try PostgreSQLStore(right)
    try store.write { try $0.save(session(rev: 3)) }
    #expect(try store.read { try $0.session(dinner)?.rev } == 3)
    let isEncrypted = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
    #expect(try Connection(right).execute(script: isEncrypted) == ["t"])

    for (wrong, word) in [
      (try address(named, authority: "other"), "certificate verify failed"),
      (try address(url, authority: "ca"), "does not match host name"),
      (try address(named, authority: "nowhere"), "does not exist"),
    ] {
      let error = #expect(throws: StoreError.self) { try PostgreSQLStore(wrong) }
      #expect(error?.reason.contains("cannot be reached") == true)
      #expect(error?.reason.contains(word) == true, "\(error?.reason ?? "")")
      #expect(error?.reason.contains(password) == false)
    }
  }

  @Test func `a standby that takes over has all that was committed, and is found`() throws {
    let primary = try PrivateDatabase()
    let standby = try PrivateDatabase(following: primary)
    let store = try PostgreSQLStore(
      PostgreSQLAddress(parsing: primary.url(orElse: standby)))
    for rev in 1...50 { try store.write { try $0.save(session(rev: rev)) } }
    try primary.kill()
    let away = #expect(throws: StoreError.self) {
      try store.write { try $0.save(session(rev: 51)) }
    }
    #expect(away?.reason.contains("cannot be reached") == true, "\(away?.reason ?? "")")
    try standby.promote()
    #expect(try store.read { try $0.session(dinner)?.rev } == 50)
    try store.write { try $0.save(session(rev: 52)) }
    #expect(try store.read { try $0.session(dinner)?.rev } == 52)
  }
}

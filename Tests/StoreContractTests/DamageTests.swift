import Foundation
import Pipeline
import Pushes
import Testing
import Vocabulary

@testable import SQLiteStore

/// A column that holds what it cannot be is named, not taken for something else.
@Suite struct DamageTests {
  private let connection: Connection
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    connection = try Connection(path: folder.path + "/lockstep.db", access: .write)
  }

  private enum Damage: String, SQLText {
    case nothing = "SELECT NULL AS a"
    case number = "SELECT 7 AS a"
    case text = "SELECT 'x' AS a"
  }

  private func expect<Value: SQLValue>(
    _ type: Value.Type, in damage: Damage, reads wanted: String
  ) {
    let error = StoreError("the database is damaged: column a does not hold \(wanted)")
    #expect(throws: error) {
      _ = try connection.first(damage) { try $0.next() as Value }
    }
  }

  @Test func `each form wants its own`() {
    for damage in [Damage.nothing, .text] {
      expect(Int.self, in: damage, reads: "a number")
      expect(Bool.self, in: damage, reads: "a number")
      expect(UnixTime.self, in: damage, reads: "a number")
      expect(Data.self, in: damage, reads: "bytes")
    }
    for damage in [Damage.nothing, .number] {
      expect(String.self, in: damage, reads: "text")
      expect(UserID.self, in: damage, reads: "text")
      expect(JSONText.self, in: damage, reads: "text")
    }
  }

  @Test func `a word, a token or an address must be one`() {
    expect(PushEnvironment.self, in: .text, reads: "a PushEnvironment: \"x\"")
    let token = #expect(throws: PushTokenError.self) { try PushToken(hex: "x") }
    let endpoint = #expect(throws: PushEndpointError.self) { try PushEndpoint("x") }
    if let token { expect(PushToken.self, in: .text, reads: "a token: it \(token)") }
    if let endpoint { expect(PushEndpoint.self, in: .text, reads: "an endpoint: it \(endpoint)") }
  }

  @Test func `NULL is read where there may be nothing`() throws {
    let found: Int?? = try connection.first(Damage.nothing) { try $0.next() as Int? }
    #expect(found == .some(nil))
  }

  @Test func `JSON of something else says of what`() {
    let error = #expect(throws: StoreError.self) {
      _ = try connection.first(Damage.text) { try $0.decoded("a stored thing") as [String] }
    }
    #expect(
      error?.reason.hasPrefix("the database is damaged: a stored thing does not decode") == true)
  }
}

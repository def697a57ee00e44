import Foundation
import Pipeline
import SQLiteStore
import Testing
import Vocabulary

/// A database opened to look at it, while others work on it.
@Suite struct LookingTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/lockstep.db"
  }

  @Test func `what others commit is seen, and nothing can be written`() throws {
    let working = try SQLiteStore(path: path)
    let looking = try SQLiteStore(lookingAt: path)
    try working.write { try $0.append(event("e1")) }
    #expect(try looking.read { try $0.outboxDepth().events } == 1)
    #expect(throws: StoreError("cannot be written: it was opened to look at")) {
      try looking.write { try $0.append(event("e2")) }
    }
    #expect(throws: StoreError.self) { try looking.read { try $0.append(event("e3")) } }
    try working.write { try $0.append(event("e4")) }
    #expect(try looking.read { try $0.outboxDepth().events } == 2)
  }

  @Test func `a database that nobody has open is looked at too`() throws {
    do { try SQLiteStore(path: path).write { try $0.append(event("e1")) } }
    #expect(try SQLiteStore(lookingAt: path).read { try $0.outboxDepth().events } == 1)
  }

  @Test func `a file that is not there is not made`() throws {
    let reason = "\(path): is not there: the first role that starts makes it"
    #expect(throws: StoreError(reason)) { try SQLiteStore(lookingAt: path) }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `an older schema is named and left alone`() throws {
    let steps = Array(Migrations.all.dropLast())
    try Migrations.apply(steps, to: Connection(path: path, access: .write))
    let reason =
      "\(path): has schema \(steps.count), this program wants \(steps.count + 1): start one of its"
      + " roles once"
    #expect(throws: StoreError(reason)) { try SQLiteStore(lookingAt: path) }
  }

  @Test func `a database of another program is named`() throws {
    try Connection(path: path, access: .write).execute(script: "CREATE TABLE theirs (a);")
    #expect(throws: StoreError("\(path): is not a Lockstep database")) {
      try SQLiteStore(lookingAt: path)
    }
  }
}

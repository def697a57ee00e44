import Foundation
import Pipeline
import PostgreSQLStore
import SQLiteStore
import TestSupport
import Testing

/// Every store, all held to the same promises.
enum StoreUnderTest: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case inMemory, sqlite, postgresql

  var testDescription: String { rawValue }

  /// An empty store of this kind.
  func open() throws -> OpenStore {
    switch self {
    case .inMemory:
      let store = InMemoryStore(repeatsWrites: false)
      return OpenStore(home: nil, store: store, reopen: { store })
    case .sqlite:
      let folder = try TemporaryFolder()
      let path = folder.path + "/lockstep.db"
      return OpenStore(
        home: folder, store: try SQLiteStore(path: path),
        reopen: { try SQLiteStore(path: path) })
    case .postgresql:
      let database = try DatabaseUnderTest()
      let address = try database.address
      return OpenStore(
        home: database, store: try PostgreSQLStore(address),
        reopen: { try PostgreSQLStore(address) })
    }
  }
}

/// A store whose files or schema go with it.
final class OpenStore: Store {
  private let home: (any AnyObject & Sendable)?
  private let store: any Store
  private let reopen: @Sendable () throws -> any Store

  init(
    home: (any AnyObject & Sendable)?, store: any Store,
    reopen: @escaping @Sendable () throws -> any Store
  ) {
    self.home = home
    self.store = store
    self.reopen = reopen
  }

  /// Another hold on the same data, as another process has it.
  func secondHandle() throws -> any Store { try reopen() }

  func read<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    try store.read(body)
  }

  func write<Result>(_ body: (any StoreTransaction) throws -> Result) throws -> Result {
    try store.write(body)
  }
}

/// A new folder, removed with everything in it when nobody holds it any more.
final class TemporaryFolder: Sendable {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "lockstep-store-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
  }

  deinit {
    // Nothing depends on it: the folder is in the temporary one.
    try? FileManager.default.removeItem(atPath: path)
  }
}

import Foundation
import Pipeline
import SQLiteStore
import TestSupport
import Testing

/// Every store, all held to the same promises.
enum StoreUnderTest: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case inMemory, sqlite

  var testDescription: String { rawValue }

  /// An empty store of this kind.
  func open() throws -> OpenStore {
    switch self {
    case .inMemory:
      let store = InMemoryStore()
      return OpenStore(folder: nil, store: store, reopen: { store })
    case .sqlite:
      let folder = try TemporaryFolder()
      let path = folder.path + "/lockstep.db"
      return OpenStore(
        folder: folder, store: try SQLiteStore(path: path),
        reopen: { try SQLiteStore(path: path) })
    }
  }
}

/// A store whose files go with it.
final class OpenStore: Store {
  private let folder: TemporaryFolder?
  private let store: any Store
  private let reopen: @Sendable () throws -> any Store

  init(
    folder: TemporaryFolder?, store: any Store,
    reopen: @escaping @Sendable () throws -> any Store
  ) {
    self.folder = folder
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

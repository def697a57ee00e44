import Foundation
import Glibc
import Pipeline
import SQLiteStore
import Testing
import Vocabulary

/// What only another process can show. Each child is this test program run again.
@Suite struct SQLiteProcessTests {
  @Test func `what a killed process had committed is there, what it had not is not`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try SQLiteStore(path: path)
      for number in 1...20 { try store.write { try $0.append(event("e\(number)")) } }
      try store.write { rows in
        try rows.append(event("never"))
        kill(getpid(), SIGKILL)
      }
    }
    let store = try SQLiteStore(path: path)
    let left = try store.write {
      try $0.leaseEvents(atMost: 100, now: noon, until: noon + .seconds(1))
    }
    #expect(left.map(\.message.id) == (1...20).map { "e\($0)" })
  }

  @Test func `two processes write 500 transactions each at once`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    async let first: Void = writeInChild(path, named: "a")
    async let second: Void = writeInChild(path, named: "b")
    _ = await (first, second)
    let events = try SQLiteStore(path: path).write {
      try $0.leaseEvents(atMost: 2000, now: noon, until: noon + .seconds(1))
    }
    #expect(Set(events.map(\.message.id)).count == 1000)
    #expect(events.map(\.sequence) == Array(1...1000))
  }

  private func writeInChild(_ path: String, named name: String) async {
    await #expect(processExitsWith: .success) { [path, name] in
      let store = try SQLiteStore(path: path)
      for number in 0..<500 { try store.write { try $0.append(event("\(name)\(number)")) } }
    }
  }

  @Test func `a folder that may not be written is named, with what is wanted`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    chmod(folder.path, 0o555)
    defer { chmod(folder.path, 0o755) }
    await #expect(processExitsWith: .success) { [path = path as String] in
      try becomeOrdinaryUser()
      let error = #expect(throws: StoreError.self) { try SQLiteStore(path: path) }
      #expect(
        error?.reason.hasPrefix("\(path): cannot be opened: its folder must exist and be writable")
          == true, "\(error?.reason ?? "")")
    }
  }

  @Test func `a file that may only be read is refused when it is opened`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    _ = try SQLiteStore(path: path)
    chmod(folder.path, 0o777)
    chmod(path, 0o444)
    await #expect(processExitsWith: .success) { [path = path as String] in
      try becomeOrdinaryUser()
      #expect(throws: StoreError("\(path): is not writable for this user")) {
        try SQLiteStore(path: path)
      }
    }
  }

  @Test func `whatever the umask, only its owner may read a new database and its log`() async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    await #expect(processExitsWith: .success) { [path = path as String] in
      umask(0)
      let store = try SQLiteStore(path: path)
      try store.write { try $0.append(event("e1")) }
      for file in [path, path + "-wal", path + "-shm"] {
        var status = stat()
        #expect(stat(file, &status) == 0, "\(file)")
        #expect(status.st_mode & 0o777 == 0o600, "\(file)")
      }
    }
  }

  @Test func `a database that is there keeps its mode`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    _ = try SQLiteStore(path: path)
    chmod(path, 0o640)
    let store = try SQLiteStore(path: path)
    try store.write { try $0.append(event("e1")) }
    var status = stat()
    #expect(stat(path + "-wal", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o640)
  }

  @Test func `when the disk takes no more the write fails whole, and later ones succeed`()
    async throws
  {
    let folder = try TemporaryFolder()
    let path = folder.path + "/lockstep.db"
    await #expect(processExitsWith: .success) { [path = path as String] in
      let store = try SQLiteStore(path: path)
      try store.write { try $0.append(event("before")) }
      // A limit on the size of files, with its signal ignored, is a disk that is full.
      signal(SIGXFSZ, SIG_IGN)
      try limitFiles(to_bytes: 300_000)
      let error = #expect(throws: StoreError.self) {
        try store.write { rows in
          for number in 0..<5000 { try rows.append(event("e\(number)")) }
        }
      }
      #expect(error?.reason.contains("the disk failed") == true, "\(error?.reason ?? "")")
      #expect(try store.read { try $0.outboxDepth().events } == 1)
      try limitFiles(to_bytes: nil)
      try store.write { try $0.append(event("after")) }
      #expect(try store.read { try $0.outboxDepth().events } == 2)
    }
  }
}

/// Root may write everywhere; nobody may not.
private func becomeOrdinaryUser() throws {
  guard getuid() == 0 else { return }
  guard setgid(65_534) == 0, setuid(65_534) == 0 else {
    throw StoreError("cannot become another user: \(String(cString: strerror(errno)))")
  }
}

/// How large this process may let a file grow; nil lifts the limit.
private func limitFiles(to_bytes: Int?) throws {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
  limit.rlim_cur = to_bytes.map { rlim_t($0) } ?? limit.rlim_max
  guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else {
    throw StoreError("cannot limit the size of files: \(String(cString: strerror(errno)))")
  }
}

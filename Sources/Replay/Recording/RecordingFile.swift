import Foundation
import Glibc
import ServiceRuntime
import Vocabulary

/// The files that one recording is written to, one after the other: `F.jsonl.gz`, then
/// `F.2.jsonl.gz`, each whole in itself. Never over one that is there.
final class RecordingFile {
  /// When the next file is begun.
  struct Rotation: Hashable {
    /// Compressed size, in bytes.
    var bytesMax = 256 * 1024 * 1024
    var span: Duration = .seconds(3600)
  }

  private let path: String
  private let rotation: Rotation
  private let header: (UnixTime) -> RecordingHeader
  private var current: Open?
  private(set) var files: [String] = []
  /// Users told of in the file that is open.
  private var told: Set<UserID> = []

  /// What is written to one file.
  private final class Open {
    let handle: FileHandle
    let begunAt: UnixTime
    var bytes = 0
    init(_ handle: FileHandle, begunAt: UnixTime) {
      self.handle = handle
      self.begunAt = begunAt
    }
  }

  private var gzip: GzipWriter?

  /// `header` is asked anew for each file.
  init(path: String, rotation: Rotation, header: @escaping (UnixTime) -> RecordingHeader) {
    self.path = path
    self.rotation = rotation
    self.header = header
  }

  /// `user` is asked for those that the file has not told of yet.
  func add(
    _ line: Data, users: [UserID], at now: UnixTime, user: (UserID) -> RecordedUser
  ) throws {
    try begin(at: now)
    for id in users where told.insert(id).inserted { try write(RecordedLine.text(user(id))) }
    try write(line)
  }

  func add(_ line: Data, at now: UnixTime) throws {
    try begin(at: now)
    try write(line)
  }

  /// Brings what was written out, so that it can be read whatever becomes of us.
  func flush() throws { try gzip?.flush() }

  /// The last line, and the end of the stream.
  func finish(_ end: RecordingEnd, at now: UnixTime) throws {
    try begin(at: now)
    try write(RecordedLine.text(end))
    try close()
  }

  private func write(_ line: Data) throws { try gzip?.add(line) }

  private func begin(at now: UnixTime) throws {
    if let current {
      let isFull = current.bytes >= rotation.bytesMax || now - current.begunAt >= rotation.span
      guard isFull else { return }
      try close()
    }
    let name = nextPath
    let descriptor = PrivateFile.create(name)
    guard descriptor >= 0 else {
      throw RecordingUnreadable("\(name): \(String(cString: strerror(errno)))")
    }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    let open = Open(handle, begunAt: now)
    gzip = GzipWriter { piece in
      try handle.write(contentsOf: piece)
      open.bytes += piece.count
    }
    current = open
    files.append(name)
    told = []
    try write(RecordedLine.text(header(now)))
    // So that even a recorder killed at once leaves a file that says what it is.
    try flush()
  }

  private func close() throws {
    try gzip?.finish()
    gzip = nil
    try current?.handle.synchronize()
    current = nil
  }

  /// `F.2.jsonl.gz` after `F.jsonl.gz`.
  private var nextPath: String {
    guard !files.isEmpty else { return path }
    let url = URL(filePath: path)
    let name = url.lastPathComponent
    let dot = name.firstIndex(of: ".") ?? name.endIndex
    let numbered = "\(name[..<dot]).\(files.count + 1)\(name[dot...])"
    return url.deletingLastPathComponent().appending(path: numbered).path(percentEncoded: false)
  }
}

import Cryptography
import Foundation
import Pushes
import ServiceRuntime

/// `lockstep vapid generate`: makes a key for Web Push.
enum VAPIDCommand {
  static let options: [(flag: String, help: String)] = [
    ("--to=", "a new file for the key, readable by its owner only. Default: standard output")
  ]

  static func run(_ invocation: Invocation) throws {
    guard invocation.arguments.words == ["generate"] else {
      throw CommandFailure(.usage, "vapid wants: generate")
    }
    let key = SigningKey.generate()
    if let path = invocation.arguments.options["to"] {
      try write(key.pem, to: path)
    } else {
      print(key.pem, terminator: "")
    }
    // Beside the key, so that standard output can become the file.
    let words = "public key: \(VAPIDKey(key).id)\n"
    FileHandle.standardError.write(Data(words.utf8))
  }

  /// Never over another key: subscriptions made with it could not be served any more.
  private static func write(_ text: String, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw CommandFailure(.unavailable, "--to \(path): \(String(cString: strerror(errno)))")
    }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try file.write(contentsOf: Data(text.utf8))
      try file.synchronize()
    } catch {
      throw CommandFailure(.unavailable, "--to \(path): \(error)")
    }
  }
}

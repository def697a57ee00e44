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
      // Never over another key: subscriptions made with it could not be served any more.
      let file = try NewFile(path, option: "--to")
      try file.write(Data(key.pem.utf8))
      try file.finish()
    } else {
      print(key.pem, terminator: "")
    }
    // Beside the key, so that standard output can become the file.
    StandardStream.error.write("public key: \(VAPIDKey(key).id)\n")
  }
}

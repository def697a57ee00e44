import Cryptography
import Vocabulary

/// Headers that jobs of every channel carry.
enum JobHeader {
  static let session = "x-session"
  static let user = "x-user"
  static let dedupe = "x-dedupe-key"
  /// Unix milliseconds.
  static let causedAt = "x-caused-at"
}

/// Why a job cannot be read. Goes into the dead queue with the message.
package struct UnreadableJob: Error, Hashable, CustomStringConvertible {
  package let description: String
}

extension Message {
  /// The job's id, which is its `message_id`: a lower-case UUID.
  func jobID() throws(UnreadableJob) -> String {
    guard UUIDText.isWritten(id) else {
      throw UnreadableJob(description: "message_id \"\(id)\" is not a lower-case UUID")
    }
    return id
  }

  func requiredText(_ header: String) throws(UnreadableJob) -> String {
    guard let value = text(header) else {
      throw UnreadableJob(description: "header \(header) is missing")
    }
    return value
  }

  func requiredInteger(_ header: String) throws(UnreadableJob) -> Int64 {
    guard let value = integer(header) else {
      throw UnreadableJob(description: "header \(header) is missing or not an integer")
    }
    return value
  }
}

import Cryptography
import Vocabulary

/// Headers that jobs of every channel carry.
enum JobHeader {
  static let session = "x-session"
  static let user = "x-user"
  static let dedupe = "x-dedupe-key"
  /// Unix milliseconds.
  static let causedAt = "x-caused-at"

  /// The longest of them, in bytes: a card's key is made of two ids.
  static let idBytesMax = 2 * UserID.bytesMax + 100
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

  /// Of a user, a session, a card: short enough for every store's indexes.
  func requiredID<Kind>(_ header: String) throws(UnreadableJob) -> Identifier<Kind> {
    Identifier(try bounded(header, try requiredText(header)))
  }

  /// Nil when it is not there.
  func optionalID<Kind>(_ header: String) throws(UnreadableJob) -> Identifier<Kind>? {
    guard let value = text(header) else { return nil }
    return Identifier(try bounded(header, value))
  }

  /// The key that an alert and what takes it back share; nil when it is not there.
  func dedupeKey() throws(UnreadableJob) -> String? {
    guard let value = text(JobHeader.dedupe) else { return nil }
    return try bounded(JobHeader.dedupe, value)
  }

  /// What becomes a header of a push; nil when it is not there. One that holds a newline, or what
  /// is not ASCII, would be an error of the connection, with all the other pushes that are on it.
  func pushHeader(_ header: String, bytesMax: Int) throws(UnreadableJob) -> String? {
    guard let value = text(header) else { return nil }
    guard (1...bytesMax).contains(value.utf8.count),
      value.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
    else {
      throw UnreadableJob(
        description: "header \(header) is not 1 to \(bytesMax) visible ASCII characters")
    }
    return value
  }

  private func bounded(_ header: String, _ value: String) throws(UnreadableJob) -> String {
    guard value.utf8.count <= JobHeader.idBytesMax else {
      throw UnreadableJob(
        description: "header \(header) has \(value.utf8.count) bytes,"
          + " want at most \(JobHeader.idBytesMax)")
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

import Foundation
import HTTPClient
import TestSupport
import Testing
import Vocabulary

/// The program that drives activities, as the tests need it: it calls with scope `service`.
extension Installation {
  static let contractsFolder = Programs.repository.appending(path: "deploy/contracts")
  static let contractsSetting = "LOCKSTEP_CONTRACTS_DIR"

  @discardableResult
  func serve(_ method: String, _ key: String, _ body: JSONValue? = nil) throws -> JSONValue {
    try ask("kitchen", method, "/api/activities/\(key)", body)
  }
}

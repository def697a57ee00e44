import Cryptography
import Foundation
import Vocabulary

/// The credentials of a Firebase project, as its console gives them: a JSON file.
package struct ServiceAccount: Sendable {
  package let projectID: String
  package let clientEmail: String
  package let key: RSASigningKey
  /// Names the key at Google; nil when the file does not say.
  package let keyID: String?
  /// Where an assertion is exchanged for an access token.
  package let tokenURL: String

  private static let scope = "https://www.googleapis.com/auth/firebase.messaging"
  /// Google takes no longer one.
  private static let assertionLife: Duration = .seconds(3600)

  /// - Throws: ``ServiceAccountError`` naming the member that is missing or wrong, never its value.
  package init(json: Data) throws(ServiceAccountError) {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: json)
    } catch {
      throw ServiceAccountError(description: "is not JSON: \(error); want a service account's file")
    }
    func text(_ name: String) throws(ServiceAccountError) -> String {
      guard case .string(let text)? = value[name], !text.isEmpty else {
        throw ServiceAccountError(description: "lacks \(name); want a service account's file")
      }
      return text
    }
    projectID = try text("project_id")
    clientEmail = try text("client_email")
    tokenURL = try text("token_uri")
    if case .string(let id)? = value["private_key_id"], !id.isEmpty {
      keyID = id
    } else {
      keyID = nil
    }
    guard tokenURL.hasPrefix("https://") else {
      throw ServiceAccountError(description: "has another token_uri than https://…")
    }
    let name = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-.:_"))
    guard projectID.unicodeScalars.allSatisfy(name.contains) else {
      throw ServiceAccountError(description: "has a project_id that no project has")
    }
    do {
      key = try RSASigningKey(pem: try text("private_key"))
    } catch let error as ServiceAccountError {
      throw error
    } catch {
      throw ServiceAccountError(description: "private_key \(error)")
    }
  }

  /// What is exchanged for an access token (RFC 7523).
  package func assertion(now: UnixTime) -> String {
    JSONWebToken.signed(
      claims: [
        "iss": .string(clientEmail), "scope": .string(Self.scope), "aud": .string(tokenURL),
        "iat": .integer(now.seconds), "exp": .integer((now + Self.assertionLife).seconds),
      ], with: key, keyID: keyID, type: "JWT")
  }

  /// The form that asks for an access token.
  package func tokenRequest(now: UnixTime) -> Data {
    let grant = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"
    return Data("grant_type=\(grant)&assertion=\(assertion(now: now))".utf8)
  }
}

package struct ServiceAccountError: Error, Hashable, CustomStringConvertible {
  package let description: String
}

/// Why a mutation was refused. Nothing has changed.
package enum Refusal: Error, Hashable, Sendable {
  /// Not possible in this state (409).
  case wrongState(detail: String)
  /// The session is decided or cancelled (409).
  case ended(SessionState)
  /// The caller has left the session (409).
  case hasLeft
  /// The caller takes no part in the session (404).
  case notParticipant
  /// A field of the body is wrong (422); `pointer` is a JSON pointer into the body.
  case invalid(pointer: String, detail: String)

  /// Plain English for the one who asked.
  package var detail: String {
    switch self {
    case .wrongState(let detail): detail
    case .ended(let state): "the session is \(state.rawValue), nothing can change any more"
    case .hasLeft: "you have left this session and cannot act in it"
    case .notParticipant: "you take no part in this session"
    case .invalid(_, let detail): detail
    }
  }
}

extension Refusal: CustomStringConvertible {
  package var description: String { detail }
}

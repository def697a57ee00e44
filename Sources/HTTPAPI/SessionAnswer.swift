import ActivityContracts
import Foundation
import HTTPServing
import Sessions
import Vocabulary

/// A session in an answer: the pinned shape and, at the same level, the caller's view of it.
struct SessionAnswer: Encodable {
  let session: Session
  /// Nil for the kitchen, which takes no part.
  private let view: CookSuggestActivityAttributes.ContentState?
  /// Each participant's answers as their JSON came: only for the kitchen.
  private let answers: [UserID: Data]?

  init(_ session: Session, for caller: UserID, language: Language, answers: [UserID: Data]? = nil) {
    self.session = session
    self.answers = answers
    view =
      session.participant(caller) == nil
      ? nil : session.contentState(for: caller, language: language)
  }

  private enum CodingKeys: String, CodingKey {
    case statusLabel = "status_label"
    case deepLinkStep = "deep_link_step"
    case proposalCount = "proposal_count"
    case partnerPickTitle = "partner_pick_title"
    case partnerReady = "partner_ready"
    case ended
  }

  func encode(to encoder: any Encoder) throws {
    try session.encode(to: encoder)
    guard let view else { return }
    var members = encoder.container(keyedBy: CodingKeys.self)
    try members.encode(view.statusLabel, forKey: .statusLabel)
    try members.encode(view.deepLinkStep, forKey: .deepLinkStep)
    try members.encode(view.proposalCount, forKey: .proposalCount)
    try members.encode(view.partnerPickTitle, forKey: .partnerPickTitle)
    try members.encode(view.partnerReady, forKey: .partnerReady)
    try members.encode(view.ended, forKey: .ended)
  }

  var tag: String { Conditions.tag(rev: session.rev) }

  func response(_ status: Int = 200) -> HTTPResponse {
    HTTPResponse(
      status: status,
      headers: [
        ("content-type", "application/json"), ("etag", tag), ("cache-control", "private, no-cache"),
      ],
      body: body)
  }

  /// With member `answers`: `{"<user id>": {…}}`. Their bytes are put in as they are, because
  /// decoding and encoding again could change a number.
  private var body: Data {
    var text = JSON.encoded(self)
    guard let answers else { return text }
    text.removeLast()
    text.append(contentsOf: Data(#","answers":{"#.utf8))
    for (place, (user, answer)) in answers.sorted(by: { $0.key < $1.key }).enumerated() {
      if place > 0 { text.append(UInt8(ascii: ",")) }
      text.append(JSON.encoded(user))
      text.append(UInt8(ascii: ":"))
      text.append(answer)
    }
    text.append(contentsOf: Data("}}".utf8))
    return text
  }
}

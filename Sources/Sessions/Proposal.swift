import Vocabulary

/// One dish the kitchen proposes.
package struct Proposal: Hashable, Sendable {
  /// How many proposals one job may deliver; at least 1.
  package static let countMax = 50
  /// The longest title, in Unicode scalars (so that its bytes are bounded too).
  package static let titleMax = 200
  /// The longest id, in bytes of UTF-8.
  package static let idMax = 100

  package let id: ProposalID
  package let title: String
  /// What else the kitchen said of it, passed on as it came. Never holds `id` or `title`.
  package let details: [String: JSONValue]

  package init(id: ProposalID, title: String, details: [String: JSONValue] = [:]) {
    self.id = id
    self.title = title
    self.details = details.filter { $0.key != "id" && $0.key != "title" }
  }

  static func check(_ proposals: [Proposal]) throws(Refusal) {
    guard (1...countMax).contains(proposals.count) else {
      throw .invalid(
        pointer: "/proposals",
        detail: "proposals holds \(proposals.count), want 1 to \(countMax)")
    }
    var seen: Set<ProposalID> = []
    for (index, proposal) in proposals.enumerated() {
      let bytes = proposal.id.text.utf8.count
      guard (1...idMax).contains(bytes) else {
        throw .invalid(
          pointer: "/proposals/\(index)/id", detail: "id has \(bytes) bytes, want 1 to \(idMax)")
      }
      guard seen.insert(proposal.id).inserted else {
        throw .invalid(
          pointer: "/proposals/\(index)/id",
          detail: "id \"\(proposal.id.text)\" stands twice, want each once")
      }
      try check(title: proposal.title, pointer: "/proposals/\(index)/title")
    }
  }

  static func check(title: String, pointer: String) throws(Refusal) {
    let length = title.unicodeScalars.count
    guard length <= titleMax else {
      throw .invalid(
        pointer: pointer, detail: "title has \(length) characters, want at most \(titleMax)")
    }
    guard !title.allSatisfy(\.isWhitespace) else {
      throw .invalid(pointer: pointer, detail: "title is empty, want 1 to \(titleMax) characters")
    }
  }
}

import Vocabulary

// The session as answers and events carry it and the store keeps it. Everything is written, absent
// values as null. Read leniently: only what an event must have is required, and members that are
// unknown are ignored. Source: spec pages 3 (Shapes, pinned) and 9 (Events).

extension Session: Codable {
  private enum CodingKeys: String, CodingKey {
    case id, date, state, rev, participants, proposals, job
    case decidedTitle = "decided_title"
    case createdAt = "created_at"
    case updatedAt = "updated_at"
    case expiresAt = "expires_at"
    case endReason = "end_reason"
  }

  /// How many are read: what one event can cause stays bounded.
  private static let participantsMax = 500

  /// - Throws: `DecodingError` with the field's path.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    id = try fields.decode(SessionID.self, forKey: .id)
    date = try fields.decode(String.self, forKey: .date)
    guard isCalendarDay(date) else {
      throw DecodingError.dataCorruptedError(
        forKey: .date, in: fields,
        debugDescription: "\"\(date.prefix(40))\" is not a day as YYYY-MM-DD")
    }
    state = try fields.decodeWord(SessionState.self, forKey: .state)
    rev = try fields.decodeRev(forKey: .rev)
    participants = try fields.decodeList(
      of: Participant.self, forKey: .participants, countMax: Self.participantsMax)
    proposals = try fields.decodeIfPresent([Proposal].self, forKey: .proposals) ?? []
    job = try fields.decodeIfPresent(PartialJob.self, forKey: .job)?.whole
    decidedTitle = try fields.decodeIfPresent(String.self, forKey: .decidedTitle)
    updatedAt = try fields.decode(UnixTime.self, forKey: .updatedAt).wholeSeconds
    // Others may leave it out; no session was created after it was last changed.
    createdAt = try fields.decodeIfPresent(UnixTime.self, forKey: .createdAt) ?? updatedAt
    expiresAt = try fields.decode(UnixTime.self, forKey: .expiresAt)
    endReason = try fields.decodeWordIfPresent(EndReason.self, forKey: .endReason)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(id, forKey: .id)
    try fields.encode(date, forKey: .date)
    try fields.encode(state, forKey: .state)
    try fields.encode(rev, forKey: .rev)
    try fields.encode(participants, forKey: .participants)
    try fields.encode(proposals, forKey: .proposals)
    try fields.encode(job, forKey: .job)
    try fields.encode(decidedTitle, forKey: .decidedTitle)
    try fields.encode(createdAt, forKey: .createdAt)
    try fields.encode(updatedAt.contractForm, forKey: .updatedAt)
    try fields.encode(expiresAt, forKey: .expiresAt)
    try fields.encode(endReason, forKey: .endReason)
  }
}

extension Participant: Codable {
  private enum CodingKeys: String, CodingKey {
    case userID = "user_id"
    case name, tint, emoji, status, ready
    case pickProposalID = "pick_proposal_id"
    case confirmedProposalID = "confirmed_proposal_id"
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    userID = try fields.decode(UserID.self, forKey: .userID)
    name = try fields.decodeIfPresent(String.self, forKey: .name)
    tint = try fields.decodeIfPresent(String.self, forKey: .tint)
    emoji = try fields.decodeIfPresent(String.self, forKey: .emoji)
    status = try fields.decodeWord(Status.self, forKey: .status)
    ready = try fields.decode(Bool.self, forKey: .ready)
    pickProposalID = try fields.decodeIfPresent(ProposalID.self, forKey: .pickProposalID)
    confirmedProposalID = try fields.decodeIfPresent(ProposalID.self, forKey: .confirmedProposalID)
  }

  package func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(userID, forKey: .userID)
    try fields.encode(name, forKey: .name)
    try fields.encode(tint, forKey: .tint)
    try fields.encode(emoji, forKey: .emoji)
    try fields.encode(status, forKey: .status)
    try fields.encode(ready, forKey: .ready)
    try fields.encode(pickProposalID, forKey: .pickProposalID)
    try fields.encode(confirmedProposalID, forKey: .confirmedProposalID)
  }
}

extension Proposal: Codable {
  private struct Member: CodingKey {
    static let id = Member(stringValue: "id")
    static let title = Member(stringValue: "title")

    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  package init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Member.self)
    var details: [String: JSONValue] = [:]
    for member in members.allKeys where member.stringValue != "id" && member.stringValue != "title"
    {
      details[member.stringValue] = try members.decode(JSONValue.self, forKey: member)
    }
    self.init(
      id: try members.decode(ProposalID.self, forKey: .id),
      title: try members.decode(String.self, forKey: .title), details: details)
  }

  package func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: Member.self)
    for (name, value) in details { try members.encode(value, forKey: Member(stringValue: name)) }
    try members.encode(id, forKey: .id)
    try members.encode(title, forKey: .title)
  }
}

/// A job as another program may write it: without its parts it is no job.
private struct PartialJob: Decodable {
  let whole: KitchenJob?

  init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: KitchenJob.CodingKeys.self)
    let jobID = try fields.decodeIfPresent(JobID.self, forKey: .jobID)
    let kind = try fields.decodeWordIfPresent(KitchenJob.Kind.self, forKey: .kind)
    whole = if let jobID, let kind { KitchenJob(jobID: jobID, kind: kind) } else { nil }
  }
}

extension KeyedDecodingContainer {
  /// Reads one of a fixed set of words; the error names them all.
  fileprivate func decodeWord<Word>(
    _ type: Word.Type, forKey key: Key
  ) throws -> Word where Word: RawRepresentable<String> & CaseIterable {
    try word(of: decode(String.self, forKey: key), forKey: key)
  }

  private func word<Word>(of text: String, forKey key: Key) throws -> Word
  where Word: RawRepresentable<String> & CaseIterable {
    guard let word = Word(rawValue: text) else {
      let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self, debugDescription: "\"\(text.prefix(40))\" is none of \(words)")
    }
    return word
  }

  fileprivate func decodeWordIfPresent<Word>(
    _ type: Word.Type, forKey key: Key
  ) throws -> Word? where Word: RawRepresentable<String> & CaseIterable {
    try decodeIfPresent(String.self, forKey: key).map { try word(of: $0, forKey: key) }
  }
}

extension CookSuggestActivityAttributes {
  /// What the card shows, from the point of view of the participant whose card it is. Always whole,
  /// never a delta.
  public struct ContentState: Codable, Hashable, Sendable {
    /// `answering`, `generating`, `proposed`, `finalizing`, `decided` or `cancelled`.
    public var state: String
    /// One line in the receiver's language.
    public var statusLabel: String
    /// Where a tap leads: `answers`, `proposals` or `confirm`; nil for the session itself.
    public var deepLinkStep: String?
    public var proposalCount: Int
    /// What the partner picked, never the receiver's own pick.
    public var partnerPickTitle: String?
    public var partnerReady: Bool
    /// Set once decided.
    public var decidedTitle: String?
    /// `yyyy-MM-dd HH:mm:ss` in UTC.
    public var updatedAt: String?
    /// Rises with each change of the session; the widget ignores a lower one than it shows.
    public var rev: Int
    /// True once decided or cancelled, else nil.
    public var ended: Bool?

    public init(
      state: String, statusLabel: String, deepLinkStep: String?, proposalCount: Int,
      partnerPickTitle: String?, partnerReady: Bool, decidedTitle: String?, updatedAt: String?,
      rev: Int, ended: Bool?
    ) {
      self.state = state
      self.statusLabel = statusLabel
      self.deepLinkStep = deepLinkStep
      self.proposalCount = proposalCount
      self.partnerPickTitle = partnerPickTitle
      self.partnerReady = partnerReady
      self.decidedTitle = decidedTitle
      self.updatedAt = updatedAt
      self.rev = rev
      self.ended = ended
    }

    /// Writes the keys in their order, which JSON with sorted keys then need not look for.
    public func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(decidedTitle, forKey: .decidedTitle)
      try container.encode(deepLinkStep, forKey: .deepLinkStep)
      try container.encode(ended, forKey: .ended)
      try container.encode(partnerPickTitle, forKey: .partnerPickTitle)
      try container.encode(partnerReady, forKey: .partnerReady)
      try container.encode(proposalCount, forKey: .proposalCount)
      try container.encode(rev, forKey: .rev)
      try container.encode(state, forKey: .state)
      try container.encode(statusLabel, forKey: .statusLabel)
      try container.encode(updatedAt, forKey: .updatedAt)
    }
  }
}

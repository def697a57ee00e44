/// The Live Activity of every app built with Shiny.Mobile.LiveActivities: the same fields as the
/// `ShinyActivityAttributes.swift` that Shiny's template puts into the widget extension.
public struct ShinyActivityAttributes: Codable, Hashable, Sendable {
  /// The `attributes-type` of a start: the name ActivityKit looks this type up by.
  public static let activityType = "ShinyActivityAttributes"

  /// Which layout the widget draws.
  public var kind: String?
  /// Everything else that never changes. Required: without it the start is dropped in silence.
  public var values: [String: String]

  public init(kind: String?, values: [String: String]) {
    self.kind = kind
    self.values = values
  }
}

extension ShinyActivityAttributes {
  /// What the card shows. An absent field is left out and never `null`.
  public struct ContentState: Codable, Hashable, Sendable {
    public var title: String?
    public var body: String?
    /// A handful of characters for the Dynamic Island.
    public var shortStatus: String?
    /// 0 to 1.
    public var progress: Double?
    /// Seconds since 2001-01-01T00:00:00Z; the system animates from here …
    public var progressStart: Double?
    /// … to here, without any further push.
    public var progressEnd: Double?
    public var indeterminate: Bool?
    /// Whatever the app adds; one value that is no string makes the whole state undecodable.
    public var data: [String: String]?

    public init(
      title: String? = nil, body: String? = nil, shortStatus: String? = nil,
      progress: Double? = nil, progressStart: Double? = nil, progressEnd: Double? = nil,
      indeterminate: Bool? = nil, data: [String: String]? = nil
    ) {
      self.title = title
      self.body = body
      self.shortStatus = shortStatus
      self.progress = progress
      self.progressStart = progressStart
      self.progressEnd = progressEnd
      self.indeterminate = indeterminate
      self.data = data
    }
  }
}

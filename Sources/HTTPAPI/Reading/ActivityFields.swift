import Activities
import Pushes
import Vocabulary

// The fields of an activity's body, beyond those that every body has.
extension BodyReader {
  private static let deepLinkMax = 500
  private static let alertTitleMax = 200
  private static let alertBodyMax = 1000
  private static let alertSoundMax = 100

  /// RFC 3339, from `earliest` on and within ``Activity/ttlMax``.
  mutating func optionalMoment(_ name: String, from earliest: UnixTime?, now: UnixTime) -> UnixTime?
  {
    guard let value = optional(name) else { return nil }
    guard case .string(let text) = value else {
      mistyped(name, value, want: "an RFC 3339 time")
      return nil
    }
    guard let moment = UnixTime(text) else {
      refuse(name, "is \"\(text.prefix(40))\", want an RFC 3339 time")
      return nil
    }
    if let earliest, moment <= earliest { refuse(name, "lies in the past") }
    if moment - now > Activity.ttlMax {
      refuse(name, "lies more than \(Activity.ttlMax.components.seconds / 86_400) days ahead")
    }
    return moment
  }

  mutating func optionalNumber(_ name: String) -> Double? {
    switch optional(name) {
    case nil: return nil
    case .integer(let whole)?: return Double(whole)
    case .number(let number)?: return number
    case let value?:
      mistyped(name, value, want: "a number")
      return nil
    }
  }

  mutating func optionalAlert() -> Activity.Alert? {
    guard optional("alert") != nil, var alert = object("alert") else { return nil }
    let words = Activity.Alert(
      title: alert.text("title", max: Self.alertTitleMax),
      body: alert.text("body", max: Self.alertBodyMax),
      sound: alert.optionalText("sound", max: Self.alertSoundMax))
    adopt(alert)
    return words
  }

  mutating func optionalDeepLink() -> String? { optionalText("deep_link", max: Self.deepLinkMax) }

  /// A value that a contract reads; nil after a problem.
  mutating func checked(_ name: String, _ read: (JSONValue) -> ContractReading) -> JSONValue? {
    guard let value = optional(name) else {
      refuse(name, "is missing, want an object")
      return nil
    }
    let reading = read(value)
    for problem in reading.problems {
      note(
        Problem.Field(
          pointer: place(of: name) + problem.pointer, detail: "\(name): \(problem.detail)"))
    }
    return reading.problems.isEmpty ? reading.value : nil
  }

  /// Who gets which state. `everybody`: those that a common state is for when no recipients are
  /// named; nil when they have to be.
  mutating func states(by contract: any ActivityContract, everybody: [UserID]?, now: UnixTime)
    -> [(user: UserID, state: JSONValue)]
  {
    let common =
      optional("content_state") == nil
      ? nil : checked("content_state") { contract.read(contentState: $0, now: now) }
    var states: [(user: UserID, state: JSONValue)] = []
    var named: Set<UserID> = []
    if everybody == nil || optional("recipients") != nil {
      let given = objects("recipients")
      if given.isEmpty || given.count > Activity.recipientsMax {
        refuse("recipients", "holds \(given.count), want 1 to \(Activity.recipientsMax)")
      }
      for (members, pointer) in given.prefix(Activity.recipientsMax) {
        var item = BodyReader(members, at: pointer)
        let user = UserID(item.text("user_id", max: API.userIDMax))
        if !named.insert(user).inserted { item.refuse("user_id", "names \(user) a second time") }
        if item.optional("content_state") == nil, optional("content_state") != nil {
          if let common { states.append((user, common)) }
        } else if let own = item.checked(
          "content_state", { contract.read(contentState: $0, now: now) })
        {
          states.append((user, own))
        }
        adopt(item)
      }
    } else if optional("content_state") == nil {
      refuse("content_state", "is missing, want it or recipients")
    }
    if let common {
      states += (everybody ?? []).filter { !named.contains($0) }.map { ($0, common) }
    }
    return states
  }
}

extension LiveActivityPayload {
  /// The largest push that a state may become, whole: what a person wrote for a card is not cut.
  static func bytes(
    of state: JSONValue, startedWith attributes: JSONValue, in activity: Activity,
    alert: Activity.Alert
  ) -> Int {
    LiveActivityPayload(
      event: .start(
        attributesType: activity.attributesType, attributes: attributes, alertTitle: alert.title,
        alertBody: alert.body),
      contentState: state, staleAt: activity.staleAt ?? activity.expiresAt,
      additions: .init(
        alertSound: alert.sound, relevanceScore: activity.relevanceScore,
        beside: activity.deepLink.map { ["deeplink": .string($0)] } ?? [:])
    ).bytesUnshortened
  }
}

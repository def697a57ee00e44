import Activities
import HTTPServing
import Pipeline
import Pushes
import Vocabulary

extension API {
  private static let activities = "/api/activities"
  private static let one = "\(activities)/{activity_key}"
  private static let attributesTypeMax = 128
  /// How many of its own a user is told of at once.
  private static let listedMax = 100

  static let activityRoutes: [Route] = [
    Route(.put, one, scopes: [.service]) { try $0.putActivity($1) },
    Route(.patch, one, scopes: [.service]) { try $0.patchActivity($1) },
    Route(.delete, one, scopes: [.service]) { try $0.endActivity($1) },
    Route(.get, one, scopes: [.service]) { try $0.readActivity($1) },
    Route(.get, activities) { $0.listOwnActivities($1) },
  ]

  /// Starts, or says all of it anew.
  private func putActivity(_ call: Call) throws -> Work {
    let key = try call.activityKey()
    var body = try call.body()
    let type = body.text("attributes_type", max: Self.attributesTypeMax)
    guard let contract = contracts[type] else {
      if !type.isEmpty {
        let known = contracts.attributesTypes.joined(separator: ", ")
        body.refuse("attributes_type", "is \"\(type)\", want one of \(known)")
      }
      throw Problem.invalidFields(body.problems)
    }
    let attributes = body.checked("attributes") { contract.read(attributes: $0, now: call.now) }
    if let name = contract.keyAttribute, let attributes, attributes[name] != .string(key.text) {
      body.refuse(
        "attributes", "have another \(name) than the path: the app would register for \(name)")
    }
    let content = content(&body, contract, everybody: nil, call)
    let channel = body.optionalChannel(now: call.now)
    try body.finish()
    return { rows in
      let before = try rows.activity(key)
      try checkChannel(channel, of: key, rows)
      try check(call, against: before)
      let change: ActivityChange?
      do throws(ActivityRefusal) {
        change =
          if let before {
            try before.replaced(
              attributesType: type, attributes: attributes ?? [:], with: content,
              channel: channel, at: call.now)
          } else {
            Activity.start(
              key, attributesType: type, attributes: attributes ?? [:], content,
              channel: channel, at: call.now)
          }
      } catch {
        throw Problem(error, activity: before)
      }
      return try store(
        change, of: before, by: contract, created: before == nil, rows, call)
    }
  }

  /// New whole states for some or all; never a merge.
  private func patchActivity(_ call: Call) throws -> Work {
    let key = try call.activityKey()
    let given = try call.body()
    return { rows in
      let (before, contract) = try known(key, rows)
      try check(call, against: before)
      var body = given
      let present = before.recipients.filter(\.isPresent).map(\.userID)
      let content = content(&body, contract, everybody: present, call)
      try body.finish()
      let change: ActivityChange?
      do throws(ActivityRefusal) {
        change = try before.updated(with: content, at: call.now)
      } catch {
        throw Problem(error, activity: before)
      }
      return try store(change, of: before, by: contract, rows, call)
    }
  }

  private func content(
    _ body: inout BodyReader, _ contract: any ActivityContract, everybody: [UserID]?, _ call: Call
  ) -> ActivityContent {
    ActivityContent(
      states: body.states(by: contract, everybody: everybody, now: call.now),
      alert: body.optionalAlert(),
      staleAt: body.optionalMoment("stale_date", from: nil, now: call.now),
      relevanceScore: body.optionalNumber("relevance_score"), deepLink: body.optionalDeepLink(),
      expiresAt: body.optionalMoment("expires_at", from: call.now, now: call.now))
  }

  /// Ends it, with a last state or the one that is shown. Ended again, it is answered as it is.
  private func endActivity(_ call: Call) throws -> Work {
    let key = try call.activityKey()
    let given = call.request.body.isEmpty ? BodyReader([:]) : try call.body()
    return { rows in
      let (before, contract) = try known(key, rows)
      try check(call, against: before)
      var body = given
      let present = before.recipients.filter(\.isPresent).map(\.userID)
      let hasStates =
        body.optional("content_state") != nil || body.optional("recipients") != nil
      let states =
        hasStates ? body.states(by: contract, everybody: present, now: call.now) : []
      let dismissAt = body.optionalMoment("dismissal_date", from: nil, now: call.now)
      try body.finish()
      let change = before.ended(
        .ended, states: Dictionary(states.map { ($0.user, $0.state) }) { _, last in last },
        dismissAt: dismissAt, at: call.now)
      return try store(change, of: before, by: contract, rows, call)
    }
  }

  /// With what each phone got of it and said of it.
  private func readActivity(_ call: Call) throws -> Work {
    let key = try call.activityKey()
    return { rows in
      guard let activity = try rows.activity(key) else { throw Problem.noSuchActivity() }
      let phones = try PhonesOfActivity(activity, in: rows)
      return Answer(ActivityAnswer(activity, phones: phones).response())
    }
  }

  /// What cards the caller should have now: the truth that its app reconciles with.
  private func listOwnActivities(_ call: Call) -> Work {
    { rows in
      let user = call.caller.userID
      let own = try rows.activities(of: user, limit: Self.listedMax)
      return Answer(.json(200, ["activities": own.compactMap { OwnActivity($0, of: user) }]))
    }
  }

  // MARK: What they share

  private func known(_ key: ActivityKey, _ rows: any StoreTransaction) throws
    -> (Activity, any ActivityContract)
  {
    guard let activity = try rows.activity(key) else { throw Problem.noSuchActivity() }
    guard let contract = contracts[activity.attributesType] else {
      throw Problem.invalidField(
        "attributes_type", "is \(activity.attributesType), which is no longer declared here")
    }
    return (activity, contract)
  }

  /// - Throws: 412 when `If-Match` names another rev than the current one, or there is none yet.
  private func check(_ call: Call, against activity: Activity?) throws(Problem) {
    guard let field = call.request.header("if-match") else { return }
    if let activity, try Conditions.IfMatch(field).allows(activity.rev) { return }
    let current = activity.map { "the activity's rev is \($0.rev)" } ?? "there is no activity yet"
    throw Problem(
      status: 412, name: "changed-meanwhile", title: "Changed meanwhile",
      detail: "if-match is \(field.prefix(100)), \(current).",
      activity: activity.map { ActivityAnswer($0) })
  }

  private func store(
    _ change: ActivityChange?, of before: Activity?, by contract: any ActivityContract,
    created: Bool = false, _ rows: any StoreTransaction, _ call: Call
  ) throws -> Answer {
    guard let change else {
      guard let before else { throw Problem.noSuchActivity() }
      return Answer(ActivityAnswer(before).response())
    }
    let activity = change.activity
    try checkSize(of: activity, by: contract)
    if let obstacle = activity.channelObstacle {
      throw Problem.invalidField("recipients", obstacle)
    }
    try rows.save(activity)
    let event = call.event(for: change)
    try rows.save(MutationRecord(change, by: call.caller.userID, event: event))
    var response = ActivityAnswer(activity).response(created ? 201 : 200)
    if created { response.headers.append(("location", "\(Self.activities)/\(activity.key)")) }
    return Answer(response, event: event)
  }

  /// What would fit into no push is refused here, by the name of its longest text.
  private func checkSize(of activity: Activity, by contract: any ActivityContract) throws(Problem) {
    for recipient in activity.recipients where recipient.isPresent {
      let state = recipient.contentState
      guard let alert = activity.alert ?? contract.alertWords(in: state) else {
        throw .invalidField(
          "alert",
          "is missing: iOS starts no card without one, and the content state has no text for it")
      }
      let bytes = LiveActivityPayload.bytes(
        of: state, startedWith: activity.attributes, in: activity, alert: alert)
      guard bytes > LiveActivityPayload.bytesMax else { continue }
      let longest = state.longestText
      throw .invalidFields([
        Problem.Field(
          pointer: "/content_state/\(longest.name)",
          detail: "content_state.\(longest.name) is too long with its \(longest.bytes) bytes: the"
            + " push has \(bytes), APNs takes \(LiveActivityPayload.bytesMax)")
      ])
    }
  }
}

extension JSONValue {
  /// The member that takes the most bytes.
  fileprivate var longestText: (name: String, bytes: Int) {
    guard case .object(let members) = self else { return ("", 0) }
    let sizes = members.map { (name: $0.key, bytes: $0.value.encoded.count) }
    return sizes.max { ($0.bytes, $1.name) < ($1.bytes, $0.name) } ?? ("", 0)
  }
}

extension Problem {
  static func noSuchActivity() -> Problem { notFound("There is no such activity.") }

  fileprivate init(_ refusal: ActivityRefusal, activity: Activity?) {
    switch refusal {
    case .ended:
      self.init(
        status: 409, name: "activity-ended", title: "Activity ended",
        detail: "The activity has ended, and an ended card does not come back; use another key.",
        activity: activity.map { ActivityAnswer($0) })
    case .invalid(let pointer, let detail):
      let name = pointer.dropFirst().replacing("/", with: ".")
      self = .invalidFields([Field(pointer: pointer, detail: "\(name) \(detail)")])
    }
  }
}

import HTTPServing
import Pipeline
import Pushes
import Sessions
import Vocabulary

extension API {
  private static let phoneStates: [PhoneReport.State] = [.active, .stale, .ended, .dismissed]

  static let reportRoutes: [Route] = [
    Route(.post, "/api/live-activities/report") { try $0.report($1) }
  ]

  /// Keeps what a phone says of one of its own activities.
  private func report(_ call: Call) throws -> Work {
    var body = try call.body()
    let context = body.optionalText("context_key", max: OwnContext.charactersMax).map(
      ContextKey.init)
    let activity = body.optionalText("activity_id", max: Self.activityIDMax)
    let state = body.word(
      "state", among: Self.phoneStates.map(\.rawValue), standIn: .active
    ) { name in
      // Shiny's states have the same names, capitalised.
      Self.phoneStates.first { $0.rawValue == name.lowercased() }
    }
    let rev = body.optionalCount("rev")
    if context == nil, activity == nil {
      body.refuse("context_key", "is missing, want it or activity_id")
    }
    try body.finish()
    return { rows in
      let me = call.caller.userID
      let own = try context ?? activity.flatMap { try rows.contextKey(ofActivity: $0, of: me) }
      // A card whose token is unbound, or that listens to a channel and has none: which one it is
      // only its app could tell, and one built with Shiny cannot.
      guard let own else { return Answer(.json(200, ["reported": false])) }
      guard try isOwn(own, me, rows) else {
        throw Problem.notFound("You have no such activity.")
      }
      try rows.save(
        PhoneReport(contextKey: own, userID: me, state: state, rev: rev, reportedAt: call.now))
      let newest = try rows.activityStates([own])[own]?.rev
      return Answer(.json(200, ["reported": true])) {
        if let rev, let newest { metrics.phoneLay(behind: max(0, newest - rev)) }
      }
    }
  }
}

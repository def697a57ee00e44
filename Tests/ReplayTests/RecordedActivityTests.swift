import Activities
import Foundation
import Pipeline
import Sessions
import TestSupport
import Testing
import Vocabulary

@testable import Replay

@Suite struct RecordedActivityTests {
  private let standIns = StandIns(key: Array(repeating: 7, count: 32))

  @Test func `an activity is recorded whole, with nobody's words in it`() throws {
    var story = ActivityStory()
    try story.update("Mara, die Pizza kommt")
    story.end()
    for event in story.events {
      let form = RecordedForm(event.message, standIns: standIns, receivedAt: event.storedAt)
      guard case .event(let line, let users, let place) = form else {
        Issue.record("\(form)")
        continue
      }
      let text = String(decoding: line, as: UTF8.self).lowercased()
      for word in ["mara", "dennis", "roma", "pizz", "order-7", "delivery", "berg", "back"] {
        #expect(!text.contains(word), "\(word) stands in \(text)")
      }
      #expect(users == [Samples.mara.userID, Samples.dennis.userID])
      #expect(place?.id.text == "activity:order-7" && place?.rev != nil)
      guard case .event(let read) = try RecordedLine(reading: line),
        case .activity(let activity) = read.subject
      else {
        Issue.record("it does not read back as an activity")
        continue
      }
      #expect(read.type == event.message.type && read.mutation != "other")
      #expect(activity.recipients.map(\.rev) == [activity.rev, activity.rev])
      // Its contract takes the stand-ins, and the numbers are the same.
      let contract = ShinyContract()
      #expect(contract.read(attributes: activity.attributes, now: Samples.noon).problems == [])
      for recipient in activity.recipients {
        let reading = contract.read(contentState: recipient.contentState, now: Samples.noon)
        #expect(reading.problems == [])
        #expect(reading.value["progressEnd"] == ActivityStory.state("", 0)["progressEnd"])
      }
    }
  }

  @Test func `the same stands for the same, also where the key stands in attributes`() throws {
    let story = ActivityStory()
    let recorded = try ActivityStory.recorded(story.events[0], standIns: standIns)
    guard case .activity(let activity) = recorded.subject else { return }
    #expect(activity.attributes["values"] != nil)
    guard case .object(let values)? = activity.attributes["values"] else { return }
    #expect(values.values.contains(.string(activity.key.text)))
    #expect(
      activity.recipients.map(\.userID)
        == [Samples.mara, Samples.dennis].map { standIns.user($0.userID) })
  }

  @Test func `the names of a map are words too, and what is of no contract goes`() throws {
    let budget = try DeclaredContract(
      reading: JSONValue(
        parsing: Data(
          contentsOf: ActivityStory.shopping.deletingLastPathComponent()
            .appending(path: "budget.json"))))
    let state: JSONValue = [
      "label": "Urlaub mit Mara", "leftCents": 1250, "share": .number(0.5), "isOver": false,
      "byPerson": ["Mara": 100, "Dennis": 200], "endsAt": "2026-07-01T00:00:00Z",
      "bookedAt": 1_781_784_000, "note": "for Mara",
    ]
    let change = Activity.start(
      ActivityKey("b"), attributesType: budget.attributesType,
      attributes: ["budgetName": "Mara und Dennis", "currency": "EUR"],
      ActivityContent(states: [(Samples.mara.userID, state)]), at: Samples.noon)
    let told = change.activity.rewritten(standIns.activityRewriting, by: budget)
    let shown = told.recipients[0].contentState
    let text = String(decoding: JSON.encoded(told), as: UTF8.self)
    #expect(!text.contains("Mara") && !text.contains("Dennis") && shown["note"] == nil)
    #expect(shown["leftCents"] == 1250 && shown["bookedAt"] == 1_781_784_000)
    #expect(shown["endsAt"] == .string(UnixTime("2026-07-01T00:00:00Z")?.rfc3339 ?? ""))
    guard case .object(let people)? = shown["byPerson"] else {
      Issue.record("\(shown)")
      return
    }
    #expect(Set(people.values) == [100, 200])
    #expect(budget.read(contentState: shown, now: Samples.noon).problems == [])
  }

  @Test func `without its contract an activity is left out by name, unless all is kept`() throws {
    var message = ActivityStory().events[0].message
    message.body = Data(
      String(decoding: message.body, as: UTF8.self)
        .replacing("ShinyActivityAttributes", with: "ParcelAttributes").utf8)
    let form = RecordedForm(message, standIns: standIns, receivedAt: Samples.noon)
    guard case .leftOut(let reason) = form else {
      Issue.record("it was recorded")
      return
    }
    #expect(reason.hasPrefix("there is no contract of \"ParcelAttributes\""))
    guard case .event = RecordedForm(message, standIns: nil, receivedAt: Samples.noon) else {
      Issue.record("it was left out")
      return
    }
  }

  @Test func `a played activity has another key and other people, and its dates move`() throws {
    let now = Samples.noon + .seconds(86_400)
    let names = try #require(RunNames("a1"))
    let recorded = try ActivityStory.recorded(ActivityStory().events[0])
    let played = try #require(names.played(recorded, at: now))
    let read = try Event(reading: played.message)
    guard case .activity(let activity, let mutation) = read.subject else {
      Issue.record("no activity")
      return
    }
    #expect(mutation == "start" && read.time == now && activity.rev == 1)
    #expect(
      activity.key == names.activity(ActivityKey("order-7")) && activity.key.text != "order-7")
    #expect(activity.attributes["values"]?["order"] == .string(activity.key.text))
    #expect(activity.attributes["values"]?["for"] == "Mara Berg")
    #expect(activity.recipients.map(\.userID.text) == ["lt-a1-u_mara", "lt-a1-u_dennis"])
    let shown = ActivityStory.state("Wird gebacken", 0.25, at: now)
    #expect(activity.recipients[0].contentState == shown)
    #expect(activity.expiresAt == now + Activity.ttl && read.deadline == activity.expiresAt)
    #expect(played.message.text(Event.Header.loadTest) == "a1")
    #expect(played.routingKey == "activity.started")
  }

  @Test func `what no contract of this installation says is not played, and counted`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appending(path: "e.jsonl.gz").path(percentEncoded: false)
    var plan = Evening.Plan(begin: Samples.noon)
    plan.span = .seconds(600)
    plan.activitiesPerMinute = 6
    plan.people = 60
    let report = try EveningRecording.write(plan, to: path)
    #expect(report.activities > 10)
    let whole = try RecordingSummary(path: path, contracts: ActivityStory.contracts())
    #expect(whole.events == report.events && whole.unplayed.isEmpty)
    let part = try RecordingSummary(path: path)
    #expect(part.unplayed[Errand.shoppingType] == whole.events - part.events)
    #expect(part.events < whole.events && part.notes.isEmpty)
    // A phone for each app of each of them.
    let apps = Set(whole.phones.map(\.app))
    #expect(apps.count == 3 && Set(part.phones.map(\.app)).count == 2)
    #expect(Set(whole.phones).count == whole.phones.count)
  }

  @Test func `who is known to have no app of an activity gets no phone for it`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let form = RecordedForm(
      ActivityStory().events[0].message, standIns: nil, receivedAt: Samples.noon)
    guard case .event(let line, _, _) = form else { return }
    let head = """
      {"lockstep_recording":2,"made_at":"2026-06-18T12:00:00Z"}
      {"user":"u_mara","tokens":["alert"],"apps":[]}

      """
    try (Data(head.utf8) + line).write(to: file)
    let summary = try RecordingSummary(path: file.path(percentEncoded: false))
    #expect(summary.events == 1)
    #expect(summary.phones.map { "\($0.user) \($0.app)" } == ["u_dennis ShinyActivityAttributes"])
    #expect(summary.appless == ["ShinyActivityAttributes": [Samples.mara.userID]])
  }

  @Test func `a phone of a run tells whose it is`() throws {
    let names = try #require(RunNames("a"))
    let user = names.user(UserID("u:1"))
    for app in ["CookSuggestActivityAttributes", "ShinyActivityAttributes"] {
      #expect(names.user(ofPhone: names.phone(of: user, app: app)) == user)
    }
    #expect(names.user(ofPhone: "ShinyActivityAttributes:lt-b-u_1") == nil)
    #expect(names.user(ofPhone: "mara-1") == nil)
  }
}

@Suite struct ErrandTests {
  private static func plan(activities: Double) -> Evening.Plan {
    var plan = Evening.Plan(begin: Samples.noon)
    plan.span = .seconds(1800)
    plan.sessionsPerMinute = 5
    plan.activitiesPerMinute = activities
    plan.people = 400
    return plan
  }

  @Test func `with activities the sessions of a seed stay the same`() {
    let alone = Array(Evening(Self.plan(activities: 0)))
    let both = Array(Evening(Self.plan(activities: 4)))
    #expect(both.filter { $0.message.type.hasPrefix("cooksuggest.") } == alone)
    #expect(both.count > alone.count + 100)
    #expect(zip(both, both.dropFirst()).allSatisfy { $0.storedAt <= $1.storedAt })
    #expect(Array(Evening(Self.plan(activities: 4))) == both)
  }

  @Test func `their contracts take every state, and a customer waits for one delivery`() throws {
    let contracts = try ActivityStory.contracts()
    var revs: [ActivityKey: Int] = [:]
    var customers: [UserID: ActivityKey] = [:]
    var types: Set<String> = []
    for event in Evening(Self.plan(activities: 4)) {
      guard case .activity(let activity, _) = try Event(reading: event.message).subject else {
        continue
      }
      types.insert("\(activity.attributesType) \(event.message.type)")
      #expect(activity.rev == revs[activity.key, default: 0] + 1)
      revs[activity.key] = activity.rev
      let contract = try #require(contracts[activity.attributesType])
      let now = event.storedAt
      #expect(contract.read(attributes: activity.attributes, now: now).problems == [])
      for recipient in activity.recipients {
        let reading = contract.read(contentState: recipient.contentState, now: now)
        #expect(reading.problems == [] && reading.value == recipient.contentState)
        // As the phone makes of it, which is how the ledger knows the state again.
        #expect(
          try contract.decodedContentState(recipient.contentState.encoded)
            == recipient.contentState)
      }
      if contract is ShinyContract {
        for recipient in activity.recipients {
          #expect(
            customers.updateValue(activity.key, forKey: recipient.userID) ?? activity.key
              == activity.key)
        }
      }
    }
    #expect(types.count == 6)
  }
}

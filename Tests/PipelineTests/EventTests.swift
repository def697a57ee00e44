import Foundation
import Pipeline
import Pushes
import Sessions
import TestSupport
import Testing
import Vocabulary

@Suite struct EventTests {
  private static func picked() throws -> OutboxEvent {
    var story = try CookStory()
    try story.goToProposed()
    return try story.go(.pick(ProposalID("p_1")), by: Samples.dennis)
  }

  /// The event without the member at `path`, as a foreign program would publish it.
  private static func picked(without path: [String]) throws -> Message {
    let json = try JSONValue(parsing: picked().message.body).removing(path[...])
    return Message(id: "", type: "", contentType: "application/json", body: json.encoded)
  }

  @Test func `what is written is the golden one`() throws {
    try expectGolden("event-picked.json", Self.picked().message.body)
  }

  @Test func `what is written can be read, with what its message says`() throws {
    let entry = try Self.picked()
    let event = try Event(reading: entry.message)
    #expect(event.type == "cooksuggest.session.picked")
    #expect(event.id.text == entry.message.id)
    #expect(entry.routingKey == event.type)
    #expect(entry.message.contentType == "application/cloudevents+json")
    #expect(event.deadline == event.time + .seconds(7200))
    guard case .session(let session, let mutation) = event.subject else {
      Issue.record("no session")
      return
    }
    #expect(mutation == "pick")
    #expect(session.rev == 5)
    #expect(session.participants.map(\.userID.text) == ["u_dennis", "u_mara"])
  }

  @Test func `an ended session's event is worth sending for the life of an activity`() throws {
    var story = try CookStory()
    let event = try Event(reading: story.go(.cancel, by: Samples.dennis).message)
    #expect(event.deadline == event.time + .seconds(8 * 3600))
  }

  @Test(
    arguments: [
      "specversion", "id", "type", "subject", "time", "data", "data.session", "data.session.id",
      "data.session.date", "data.session.state", "data.session.rev", "data.session.participants",
      "data.session.updated_at", "data.session.expires_at",
      "data.session.participants.0.user_id", "data.session.participants.1.status",
      "data.session.participants.0.ready",
    ])
  func `a missing required member is named`(path: String) throws {
    let message = try Self.picked(without: path.split(separator: ".").map(String.init))
    let error = try #require(throws: UnreadableEvent.self) { try Event(reading: message) }
    let named = path.replacing(".0.", with: "[0].").replacing(".1.", with: "[1].")
    #expect(error.description == "\(named) is missing")
  }

  @Test(
    arguments: [
      "source", "datacontenttype", "data.cause", "data.session.proposals", "data.session.job",
      "data.session.decided_title", "data.session.created_at", "data.session.end_reason",
      "data.session.participants.0.name", "data.session.participants.0.pick_proposal_id",
    ])
  func `everything else may be missing`(path: String) throws {
    let message = try Self.picked(without: path.split(separator: ".").map(String.init))
    #expect(throws: Never.self) { try Event(reading: message) }
  }

  @Test func `unknown members are ignored, at every depth`() throws {
    let entry = try Self.picked()
    var message = entry.message
    message.body = try JSONValue(parsing: message.body).adding("x_new", [["a": 1]]).encoded
    #expect(message.body.count > entry.message.body.count + 50)
    #expect(try Event(reading: message) == Event(reading: entry.message))
  }

  @Test func `a foreign event needs neither AMQP type nor headers`() throws {
    let event = try Event(reading: Self.picked(without: ["source"]))
    #expect(event.deadline == nil)
    #expect(event.traceparent == nil)
    #expect(event.type == "cooksuggest.session.picked")
  }

  @Test(arguments: [
    (#"{"specversion":"0.3"#, "specversion is \"0.3\", want \"1.0\""),
    (#"{"type":"cooksuggest.session.eaten"#, "type \"cooksuggest.session.eaten\" is not known"),
    (#"{"type":"activity.paused"#, "type \"activity.paused\" is not known"),
    (#"{"subject":7,"x":""#, "subject is a number, want a string"),
  ])
  func `what cannot be right is refused with the reason`(opening: String, reason: String) throws {
    // The first of two members of one name wins in Foundation's reader, as in most.
    let name = String(opening.dropFirst(2).prefix { $0 != "\"" })
    let rest = try Self.picked(without: [name]).body
    let text = opening + "\"," + String(decoding: rest, as: UTF8.self).dropFirst()
    let message = Message(id: "", type: "", contentType: "", body: Data(text.utf8))
    let error = try #require(throws: UnreadableEvent.self) { try Event(reading: message) }
    #expect(error.description == reason)
  }

  private static let crowd = (0...500).map { place in
    JSONValue.object([
      "user_id": .string("u_\(place)"), "status": "joined", "ready": .bool(false),
    ])
  }

  @Test(
    arguments: [
      (
        ["data", "session", "rev"], JSONValue.integer(Int64.min),
        "rev is wrong: \(Int64.min), want 1 to"
      ),
      (["data", "session", "rev"], 0, "rev is wrong: 0, want 1 to"),
      (
        ["data", "session", "rev"], .integer(1 << 53 + 1),
        "rev is wrong: 9007199254740993, want 1 to"
      ),
      (
        ["data", "session", "id"], .string(String(repeating: "x", count: 1201)),
        "id is wrong: 1201 bytes"
      ),
      (["id"], .string(String(repeating: "é", count: 601)), "id is wrong: 1202 bytes"),
      (
        ["data", "session", "participants", "0", "user_id"],
        .string(String(repeating: "x", count: 1201)), "user_id is wrong: 1201 bytes"
      ),
      (
        ["data", "session", "participants"], .array(Self.crowd),
        "participants is wrong: 501 elements, want at most 500"
      ),
    ] as [([String], JSONValue, String)])
  func `what would be more than is reckoned with is refused`(
    path: [String], value: JSONValue, reason: String
  ) throws {
    let json = try JSONValue(parsing: Self.picked().message.body).replacing(path[...], by: value)
    let message = Message(id: "", type: "", contentType: "", body: json.encoded)
    let error = try #require(throws: UnreadableEvent.self) { try Event(reading: message) }
    #expect(error.description.contains(reason), "\(error)")
  }

  @Test func `a body that would fill the memory is not even parsed`() throws {
    var message = try Self.picked().message
    message.body += Data(repeating: UInt8(ascii: " "), count: Event.bodyBytesMax)
    let error = try #require(throws: UnreadableEvent.self) { try Event(reading: message) }
    #expect(error.description == "the body has \(message.body.count) bytes, want at most 8388608")
  }

  @Test func `what is no place in a trace is not passed on from message to message`() throws {
    var message = try Self.picked().message
    let traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
    message.headers[Event.Header.traceparent] = .text(traceparent)
    #expect(try Event(reading: message).traceparent == traceparent)
    message.headers[Event.Header.traceparent] = .text(String(repeating: "0", count: 60_000))
    #expect(try Event(reading: message).traceparent == nil)
  }

  @Test(arguments: ["", "{", "[]", "null", "\u{FF}"])
  func `what is no JSON object is refused`(text: String) {
    let message = Message(id: "", type: "", contentType: "", body: Data(text.utf8))
    #expect(throws: UnreadableEvent.self) { try Event(reading: message) }
  }

  @Test func `a token's registration carries its fingerprint, never the token`() throws {
    let registration = Samples.registration(
      Samples.token(77), of: Samples.mara.userID, .update, context: ContextKey("c"))
    let entry = Event.registered(registration, at: Samples.noon)
    #expect(!String(decoding: entry.message.body, as: UTF8.self).contains(Samples.token(77).hex))
    guard case .token(let read) = try Event(reading: entry.message).subject else {
      Issue.record("no token")
      return
    }
    #expect(read.tokenFingerprint == Samples.token(77).fingerprint)
    #expect(read.kind == "la-update")
    #expect(read.contextKey == ContextKey("c"))
  }
}

extension JSONValue {
  /// With one more member in each object but a proposal's, which are passed on as they came.
  fileprivate func adding(_ name: String, _ value: JSONValue) -> JSONValue {
    switch self {
    case .object(var members):
      for (key, member) in members where key != "proposals" {
        members[key] = member.adding(name, value)
      }
      members[name] = value
      return .object(members)
    case .array(let items): return .array(items.map { $0.adding(name, value) })
    default: return self
    }
  }

  fileprivate func removing(_ path: ArraySlice<String>) -> JSONValue {
    replacing(path, by: nil)
  }

  /// With another value at `path`, or without what is there.
  fileprivate func replacing(_ path: ArraySlice<String>, by value: JSONValue?) -> JSONValue {
    guard let name = path.first else { return self }
    switch self {
    case .object(var members):
      members[name] =
        path.count == 1 ? value : members[name]?.replacing(path.dropFirst(), by: value)
      return .object(members)
    case .array(var items):
      guard let place = Int(name), items.indices.contains(place) else { return self }
      items[place] = items[place].replacing(path.dropFirst(), by: value)
      return .array(items)
    default: return self
    }
  }
}

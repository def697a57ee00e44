import Foundation
import Pipeline
import Pushes
import Sessions
import Vocabulary

let noon = UnixTime(seconds: 1_781_784_000)
let dennis = UserID("u_dennis")
let alina = UserID("u_alina")
let dinner = SessionID("cs_dinner")
let dinnerOfDennis = ContextKey("cooksuggest:cs_dinner:u_dennis")
let dinnerOfAlina = ContextKey("cooksuggest:cs_dinner:u_alina")

func token(_ byte: UInt8) throws -> PushToken {
  let digits = String(byte, radix: 16)
  let pair = digits.count == 1 ? "0" + digits : digits
  return try PushToken(hex: String(repeating: pair, count: 32))
}

func session(
  _ id: SessionID = dinner, state: SessionState = .answering, rev: Int = 1,
  users: [(UserID, Participant.Status)] = [(dennis, .joined), (alina, .invited)],
  expiresAt: UnixTime = noon + .seconds(3600), updatedAt: UnixTime = noon, job: String? = nil
) throws -> Session {
  let participants = users.map { user, status -> JSONValue in
    [
      "user_id": .string(user.text), "name": "Ünal \"x\"", "status": .string(status.rawValue),
      "ready": false,
    ]
  }
  let json: JSONValue = [
    "id": .string(id.text), "date": "2026-06-18", "state": .string(state.rawValue),
    "rev": .integer(Int64(rev)), "participants": .array(participants),
    "proposals": [["id": "p1", "title": "Pad Thai 🍜", "minutes": 25]],
    "job": job.map { ["job_id": .string($0), "kind": "proposals"] } ?? .null,
    "created_at": .string(noon.rfc3339), "updated_at": .string(updatedAt.contractForm),
    "expires_at": .string(expiresAt.rfc3339),
  ]
  return try JSON.decode(Session.self, from: json.encoded)
}

func activityState(
  _ context: ContextKey = dinnerOfDennis, user: UserID = dennis, rev: Int = 1,
  event: ActivityState.Event = .update, causedAt: UnixTime = noon
) -> ActivityState {
  ActivityState(
    contextKey: context, sessionID: dinner, userID: user, rev: rev, event: event,
    contentState: Data(#"{"rev":1, "title":"Pad Thai 🍜"}"#.utf8), attributesType: "Attributes",
    attributes: Data(#"{"a":1}"#.utf8), alertTitle: "Plan dinner", alertBody: nil,
    staleAt: noon + .seconds(60), dismissAt: nil, deadline: noon + .seconds(600),
    causedAt: causedAt, traceparent: "00-1-2-01")
}

func delivery(
  job: String, of session: SessionID = dinner, event: String = "alert", status: Int? = 200,
  settledAt: UnixTime = noon
) -> DeliveryRecord {
  DeliveryRecord(
    jobID: job, sessionID: session, userID: dennis, contextKey: nil, rev: 3,
    tokenFingerprint: "01234567", event: event, status: status,
    reason: status == nil ? "timeout" : nil, attempt: 1, causedAt: noon, settledAt: settledAt)
}

func notification(
  _ id: String, user: UserID = dennis, dedupeKey: String? = nil, createdAt: UnixTime = noon,
  updatedAt: UnixTime? = nil
) -> Pipeline.Notification {
  Pipeline.Notification(
    id: id, userID: user, type: "cooksuggest.invitation", title: "Kochplanung", body: "Tippe",
    icon: "🍳", link: "/cook/1", dedupeKey: dedupeKey ?? "key-\(id)", createdAt: createdAt,
    updatedAt: updatedAt ?? createdAt)
}

func event(_ id: String, storedAt: UnixTime = noon, orderKey: String? = nil) -> OutboxEvent {
  let message = Message(
    id: id, type: "cooksuggest.session.picked", contentType: "application/cloudevents+json",
    headers: [
      "traceparent": "00-1-2-01", "x-deadline": 1_781_784_000_123, "x-loadtest": .flag(true),
    ],
    body: Data([0, 1, 255, 10]), timestamp: noon)
  return OutboxEvent(
    message: message, routingKey: "cooksuggest.session.picked", storedAt: storedAt,
    orderKey: orderKey)
}

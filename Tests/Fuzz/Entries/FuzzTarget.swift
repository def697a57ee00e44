import Activities
import APNsTransport
import Cryptography
import Foundation
import HTTP2
import HTTPServing
import Pipeline
import Pushes
import RabbitMQBroker
import Replay
import Sessions
import Vocabulary

/// One reader of bytes that come from outside, as a fuzzer drives it: whatever the bytes are, it
/// answers or refuses, and does not trap. What reads back must read back the same.
package enum FuzzTarget: String, CaseIterable, Sendable {
  /// A message as ``FuzzedMessage`` reads it.
  case event
  case pushJob = "push-job"
  case webPushJob = "webpush-job"
  case fcmJob = "fcm-job"
  /// What FCM, or Google's token endpoint, answers.
  case fcmAnswer = "fcm-answer"
  /// A whole request to the public API: see ``FuzzedRequest``.
  case request
  case topology
  case answer
  case token
  case keySet = "key-set"
  case pem
  case endpoint
  case json
  case time
  /// A whole recording, compressed or not.
  case recording

  /// Lets the reader read; traps when something is wrong with it.
  package func read(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    switch self {
    case .event: try? readEvent(FuzzedMessage(bytes).message)
    case .pushJob: try? readPushJob(FuzzedMessage(bytes).message)
    case .webPushJob: _ = try? WebPushJob(reading: FuzzedMessage(bytes).message)
    case .fcmJob: try? readFCMJob(FuzzedMessage(bytes).message)
    case .fcmAnswer: readFCMAnswer(bytes)
    case .request: FuzzedRequest(bytes).send()
    case .topology: _ = try? Topology(yaml: text)
    case .answer: readAnswer(bytes)
    case .token: readToken(text)
    case .keySet: _ = try? JSONWebKeySet(parsing: Data(bytes))
    case .pem: _ = try? SigningKey.all(pem: text)
    case .endpoint: _ = try? PushEndpoint(text)
    case .json: readJSON(bytes)
    case .time: readTime(text)
    case .recording: readRecording(Data(bytes))
    }
  }

  private func readEvent(_ message: Message) throws {
    let event = try Event(reading: message)
    // What was read is what a stage works with: it must be usable.
    if case .activity(let activity, _) = event.subject {
      let again = try JSON.decode(Activity.self, from: JSON.encoded(activity))
      precondition(again == activity, "an activity does not read back")
      _ = try RecipientStates.states(
        of: activity, by: .builtIn, causedAt: event.time, deadline: event.deadline,
        traceparent: event.traceparent)
    }
    guard case .session(let session, _) = event.subject else { return }
    for participant in session.participants { _ = session.contextKey(for: participant.userID) }
    let again = try JSON.decode(type(of: session), from: JSON.encoded(session))
    precondition(again == session, "a session does not read back")
  }

  private func readPushJob(_ message: Message) throws {
    let job = try PushJob(reading: message)
    let again = try PushJob(reading: job.message)
    precondition(again == job, "a push job does not read back")
    if job.isLiveActivity {
      _ = LiveActivityPayload.stamped(job.payload, at: UnixTime(seconds: 1_781_784_000))
    }
  }

  private func readFCMJob(_ message: Message) throws {
    let job = try FCMJob(reading: message)
    let again = try FCMJob(reading: job.message)
    precondition(again == job, "an FCM job does not read back")
    let body = job.body(now: UnixTime(seconds: 1_781_784_000))
    // What goes out is JSON wherever the data is what the builder writes: strings.
    guard case .object(let members)? = try? JSONValue(parsing: job.data),
      members.values.allSatisfy({ if case .string = $0 { true } else { false } })
    else { return }
    precondition((try? JSONValue(parsing: body)) != nil, "a message for FCM is no JSON")
  }

  private func readFCMAnswer(_ bytes: [UInt8]) {
    let fuzzed = FuzzedAnswer(bytes)
    _ = AccessTokenAnswer(status: fuzzed.status, body: fuzzed.body)
    let headers = Dictionary(
      FuzzedInput(bytes).fields(after: 1).map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    let outcome = FCMOutcome.answered(
      FCMAnswer(
        status: fuzzed.status, headers: headers, body: fuzzed.body,
        now: UnixTime(seconds: 1_781_784_000)))
    for hasRenewedToken in [true, false] {
      let remedy = outcome.remedy(hasRenewedToken: hasRenewedToken)
      precondition((remedy == .done) == (fuzzed.status == 200), "only 200 is success")
      if remedy == .done { precondition(!outcome.isServiceFault) }
    }
  }

  private func readAnswer(_ bytes: [UInt8]) {
    let fuzzed = FuzzedAnswer(bytes)
    var reader = AnswerReader()
    let answer = reader.read(status: fuzzed.status, headers: fuzzed.headers, body: fuzzed.body) {
      UnixTime(seconds: 1_781_784_000)
    }
    for isProven in [true, false] {
      _ = PushOutcome.answered(answer).remedy(
        PushCircumstances(
          isLiveActivity: isProven, isProven: isProven, triedOtherEnvironment: !isProven))
    }
  }

  private func readToken(_ text: String) {
    if let token = try? JSONWebToken(text) { _ = try? token.claims() }
    _ = try? FuzzedRequest.keys.verify(text, now: UnixTime(seconds: 1_781_784_000))
  }

  private func readJSON(_ bytes: [UInt8]) {
    guard let value = try? JSONValue(parsing: Data(bytes)) else { return }
    // A number may change its spelling once, from `9.2e+16` to `92…`; then it stays.
    guard let once = try? JSONValue(parsing: value.encoded) else {
      preconditionFailure("a JSON value of ours does not read back")
    }
    let twice = try? JSONValue(parsing: once.encoded)
    precondition(twice == once, "a JSON value does not read back")
  }

  private func readRecording(_ data: Data) {
    guard let names = RunNames("fuzz") else { preconditionFailure("fuzz is a name") }
    var reader = RecordingReader(data) { _ = $0.description }
    let standIns = StandIns(key: Array(repeating: 1, count: 32))
    while let line = try? reader.next() {
      guard case .event(let event) = line,
        let played = names.played(event, at: UnixTime(seconds: 1_781_784_000))
      else { continue }
      // What is played can be read, and recorded again.
      precondition((try? Event(reading: played.message)) != nil, "a played event does not read")
      let form = RecordedForm(played.message, standIns: standIns, receivedAt: event.at)
      guard case .event(let text, _, _) = form, (try? RecordedLine(reading: text)) != nil else {
        preconditionFailure("a recorded event does not read back")
      }
    }
  }

  private func readTime(_ text: String) {
    _ = HTTPDate.parse(text)
    _ = RetryAfter.parse(text, now: UnixTime(seconds: 1_781_784_000))
    if let time = UnixTime(text) { _ = "\(time)" }
    _ = try? PushToken(hex: text)
    _ = RequestTarget(text)
  }
}

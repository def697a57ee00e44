import Cryptography
import Foundation
import HTTP2
import HTTPAPI
import HTTPServing
import Pipeline
import SQLiteStore
import ServiceRuntime
import Vocabulary

/// A fuzzed input as lines, an empty line, and a body: how messages, requests and answers stand in
/// the corpus.
struct FuzzedInput {
  /// Before the empty line.
  let lines: [Substring]
  let body: Data

  init(_ bytes: [UInt8]) {
    var end = bytes.endIndex
    var start = bytes.endIndex
    for place in bytes.indices.dropLast() where bytes[place] == 10 && bytes[place + 1] == 10 {
      end = place
      start = place + 2
      break
    }
    lines = String(decoding: bytes[..<end], as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    body = Data(bytes[start...])
  }

  /// Name and value of the lines after the first `count`.
  func fields(after count: Int) -> [(name: String, value: String)] {
    lines.dropFirst(count).compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      return (line[..<colon].lowercased(), String(value))
    }
  }
}

/// A message of the broker: type, id, headers (a whole number is an integer), body.
struct FuzzedMessage {
  let message: Message

  init(_ bytes: [UInt8]) {
    let input = FuzzedInput(bytes)
    var headers: MessageHeaders = [:]
    for (name, value) in input.fields(after: 2) {
      headers[name] = Int64(value).map(HeaderValue.integer) ?? .text(value)
    }
    let head = input.lines.map(String.init) + ["", ""]
    message = Message(
      id: head[1], type: head[0], contentType: Event.contentType, headers: headers,
      body: input.body)
  }
}

/// An answer of APNs: status, headers, body.
struct FuzzedAnswer {
  let status: Int
  let headers: HeaderBlock
  let body: Data

  init(_ bytes: [UInt8]) {
    let input = FuzzedInput(bytes)
    status = input.lines.first.flatMap { Int($0) } ?? 0
    headers = HeaderBlock(input.fields(after: 1))
    body = input.body
  }
}

/// A request to the public API: method and target, headers, body. Without an `authorization` of its
/// own it is made by a user who may.
struct FuzzedRequest {
  static let keys: JSONWebKeySet = {
    do {
      return try JSONWebKeySet(
        parsing: Data(
          #"{"keys":[{"kty":"oct","kid":"f","k":"\#(Base64URL.encode(RandomBytes.make(32)))"}]}"#
            .utf8))
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  private struct Noon: TimeSource {
    func now() -> UnixTime { UnixTime(seconds: 1_781_784_000) }
    func elapsed() -> Duration { .zero }
  }

  private static let bearer =
    "Bearer "
    + (keys.sign(claims: ["sub": "u_fuzz", "scope": "user service", "exp": .integer(1_781_787_600)])
      ?? "")

  private static let api: API = {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "lockstep-fuzz-\(UUIDText.random())")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let store = try SQLiteStore(path: folder.appending(path: "store.db").path)
      return API(
        store: store, keys: keys, time: Noon(),
        settings: APISettings(requestsPerSecond: 1e9, requestBurst: 1_000_000_000),
        log: .discarding, metrics: Metrics(), outbox: OutboxGate(), onCommit: {})
    } catch {
      preconditionFailure("\(error)")
    }
  }()

  private let input: FuzzedInput

  init(_ bytes: [UInt8]) { input = FuzzedInput(bytes) }

  func send() {
    let first = (input.lines.first ?? "").split(separator: " ", maxSplits: 1)
    guard first.count == 2, let target = RequestTarget(String(first[1])) else { return }
    var headers = input.fields(after: 1)
    if !headers.contains(where: { $0.name == "authorization" }) {
      headers.append((name: "authorization", value: Self.bearer))
    }
    let response = Self.api.handle(
      HTTPRequest(
        method: String(first[0]), target: target, headers: headers, body: input.body))
    precondition(response.status != 500, "an answer of 500")
  }
}

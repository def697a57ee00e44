import Foundation
import HTTPClient
import TestSupport
import Testing
import Vocabulary

extension EndToEnd {
  @Suite struct TracingTests {
    private struct Step: Hashable {
      let name: String
      let trace: String
      let id: String
      let parent: String?
      let service: String
    }

    private static let caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func `One trace shows the whole way, from the request to the push`() throws {
      let collector = try TraceCollector()
      let installation = try Installation()
      installation.settings["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.endpoint
      try installation.applyTopology()
      try installation.start(.simulator)
      for role in Role.separate { try installation.start(role) }
      for user in CookSession.people { try installation.phones.add(user) }
      let session = try CookSession.begin(in: installation)
      try installation.phones.startLocally(session, on: "dennis")
      // A token that registers after the mutation gets its state by a trace of its own.
      try installation.phones.awaitTruth(cards: 2)
      let answer = try installation.send(
        "dennis", "POST", "/api/cook-suggest/sessions/\(session.id)/ready",
        Data(#"{"ready":true}"#.utf8), headers: ["traceparent": Self.caller])
      #expect(answer.status == 200)

      let wanted = [
        "push apns", "process apns", "process build", "publish events",
        "POST /api/cook-suggest/sessions/{id}/ready",
      ]
      var way: [Step] = []
      try installation.wait(for: "a trace of the whole way") {
        way = Self.way(from: "push apns", in: try Self.steps(collector))
        return way.map(\.name) == wanted
      }
      #expect(way.last?.parent == "b7ad6b7169203331", "the caller's own step")
      #expect(
        way.map(\.service) == [
          "lockstep-apns-sender", "lockstep-apns-sender", "lockstep-payload-builder",
          "lockstep-api", "lockstep-api",
        ])
      // What leaves for a collector names no person and no token.
      for request in collector.requests {
        let text = String(decoding: request.body, as: UTF8.self).lowercased()
        for word in CookSession.people + (try installation.storedTokens()) {
          #expect(!text.contains(word.lowercased()))
        }
      }
    }

    /// The steps of the caller's trace from the first one called `name` up to its root.
    private static func way(from name: String, in steps: [Step]) -> [Step] {
      let own = steps.filter { caller.contains($0.trace) }
      var way: [Step] = []
      var next = own.first { $0.name == name }
      while let step = next, way.count < 20 {
        way.append(step)
        next = own.first { $0.id == step.parent }
      }
      return way
    }

    private struct Body: Decodable {
      struct Text: Decodable { let stringValue: String? }
      struct Attribute: Decodable {
        let key: String
        let value: Text
      }
      struct Resource: Decodable { let attributes: [Attribute] }
      struct Span: Decodable {
        let traceId: String
        let spanId: String
        let parentSpanId: String?
        let name: String
      }
      struct Scope: Decodable { let spans: [Span] }
      struct Part: Decodable {
        let resource: Resource
        let scopeSpans: [Scope]
      }
      let resourceSpans: [Part]
    }

    private static func steps(_ collector: TraceCollector) throws -> [Step] {
      try collector.requests.flatMap { request in
        try JSONDecoder().decode(Body.self, from: request.body).resourceSpans.flatMap { part in
          let service = part.resource.attributes.first { $0.key == "service.name" }
          return part.scopeSpans.flatMap(\.spans).map {
            Step(
              name: $0.name, trace: $0.traceId, id: $0.spanId, parent: $0.parentSpanId,
              service: service?.value.stringValue ?? "")
          }
        }
      }
    }
  }
}

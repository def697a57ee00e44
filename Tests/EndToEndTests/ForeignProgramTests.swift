import Foundation
import Testing
import Vocabulary

extension EndToEnd {
  @Suite struct ForeignProgramTests {
    /// Only what spec page 9 requires, and members that nobody knows.
    private func event(
      rev: Int = 1, omitting omitted: String? = nil
    ) -> JSONValue {
      var session: [String: JSONValue] = [
        "id": "cs_foreign", "date": "2030-01-31", "state": "answering",
        "rev": .integer(Int64(rev)), "updated_at": "2030-01-31T18:00:00Z",
        "expires_at": "2035-01-31T20:00:00Z", "weather": ["sky": "clear"],
        "participants": [
          ["user_id": "dennis", "status": "joined", "ready": false, "shoe_size": 43],
          ["user_id": "jaqueline", "status": "invited", "ready": false],
        ],
      ]
      if let omitted { session[omitted] = nil }
      return [
        "specversion": "1.0", "id": .string("foreign-\(rev)"), "source": "/elsewhere",
        "dataschema": "x:y",
        "type": "cooksuggest.session.created", "subject": "cs_foreign",
        "time": "2030-01-31T18:00:00Z",
        "data": ["session": .object(session), "remark": ["any", 1, nil]],
      ] as JSONValue
    }

    @Test func `An event written by Python starts the invited one's card, unknown members or not`()
      throws
    {
      let installation = try Installation(running: [.simulator] + Role.separate)
      try installation.phones.add("jaqueline")
      try installation.publishAsForeigner([.init(event: event(), headers: [:])])
      try installation.wait(for: "Jaqueline's card and banner") {
        try installation.phones.pushes(to: "jaqueline").count == 3
      }
      let pushes = try installation.phones.pushes(to: "jaqueline")
      #expect(pushes.allSatisfy { $0.status == 200 })
      #expect(pushes.compactMap(\.event).sorted() == ["start", "update"])
      #expect(pushes.filter { $0.event != nil }.allSatisfy { $0.rev == 1 })
      let banners = try installation.phones.banners(of: "jaqueline")
      #expect(banners.count == 1)
      #expect(banners.first?["link"] == "/cook-suggest/cs_foreign")
      #expect(try installation.messages(in: "dead.build").isEmpty)
    }

    @Test(arguments: ["rev", "participants", "updated_at", "expires_at", "state"])
    func `An event without a required field is dead at once, with the field's name`(
      field: String
    ) throws {
      let installation = try Installation(running: [.payloadBuilder])
      try installation.publishAsForeigner([.init(event: event(omitting: field), headers: [:])])
      try installation.wait(for: "the dead event") {
        try installation.messages(in: "dead.build").count == 1
      }
      let headers = try installation.messages(in: "dead.build").first?["properties"]?["headers"]
      let error = headers?["x-last-error"]?.text ?? ""
      #expect(error.contains("data.session.\(field)"), "\(error)")
      #expect(headers?["x-origin-queue"] == "build")
    }
  }
}

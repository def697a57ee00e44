import Activities
import ActivityContracts
import Foundation
import TestSupport
import Testing
import Vocabulary

@Suite struct ShinyContractTests {
  static let noon = Samples.noon
  private let contract = ShinyContract()

  /// Shiny's own documentation shows it so.
  private static let delivery: JSONValue = [
    "title": "Out for delivery", "body": "2 stops away", "shortStatus": "5 min",
    "progress": .number(0.65), "progressStart": .string("2026-06-18T11:30:00Z"),
    "progressEnd": .string("2026-06-18T12:30:00Z"), "indeterminate": false,
    "data": ["orderId": "A-1234"],
  ]

  @Test(
    arguments: [
      ("shiny-full.json", delivery),
      ("shiny-empty.json", [:]),
      ("shiny-indeterminate.json", ["title": "Working", "indeterminate": true, "body": nil]),
    ] as [(String, JSONValue)])
  func `a state is written as Shiny's own serializer writes it`(name: String, state: JSONValue)
    throws
  {
    let reading = contract.read(contentState: state, now: Self.noon)
    #expect(reading.problems.isEmpty)
    try expectGolden(name, reading.value.encoded + Data("\n".utf8))
    // What the app's own type makes of it is the same again.
    #expect(try contract.decodedContentState(reading.value.encoded) == reading.value)
  }

  @Test func `dates inside a state count from 2001`() throws {
    let reading = contract.read(contentState: Self.delivery, now: Self.noon)
    let start = Self.noon.seconds - 1800 - DateForm.appleEpoch
    #expect(reading.value["progressStart"] == .integer(start))
    let asNumbers: JSONValue = [
      "progressStart": .integer(start), "progressEnd": .integer(start + 3600),
    ]
    #expect(contract.read(contentState: asNumbers, now: Self.noon).problems.isEmpty)
  }

  @Test(
    arguments: [
      (["progressStart": 1_781_782_200, "progressEnd": 1_781_785_800], "/progressStart"),
      (["progressStart": 1, "progressEnd": 2], "/progressStart"),
      (["progressStart": 803_476_800], "/progressEnd"),
      (["progressStart": 803_476_800, "progressEnd": 803_476_799], "/progressEnd"),
      (["data": ["stops": 2]], "/data/stops"), (["data": ["gate": nil]], "/data/gate"),
      (["progress": .number(1.5)], "/progress"), (["progress": "0.5"], "/progress"),
      (["tittle": "typo"], "/tittle"), (["title": 7], "/title"),
      (["body": .string(String(repeating: "x", count: 1001))], "/body"),
    ] as [(JSONValue, String)])
  func `what ActivityKit would swallow is a problem with a name`(state: JSONValue, pointer: String)
    throws
  {
    let problems = contract.read(contentState: state, now: Self.noon).problems
    #expect(problems.first?.pointer == pointer)
    let field = try #require(pointer.split(separator: "/").last)
    #expect(problems.first?.detail.contains(field) == true)
  }

  @Test func `a date of another epoch is told from one that is only wrong`() {
    func detail(_ start: JSONValue) -> String {
      let state: JSONValue = ["progressStart": start, "progressEnd": start]
      return contract.read(contentState: state, now: Self.noon).problems.first?.detail ?? ""
    }
    #expect(detail(1_781_784_000).contains("it looks like seconds since 1970"))
    #expect(detail(803_476_800_000).contains("it looks like milliseconds"))
    for far: JSONValue in [.number(1e300), .number(-1e300), .integer(.max), .integer(.min)] {
      #expect(detail(far).contains("years"))
      #expect(!detail(far).contains("it looks like"))
    }
  }

  @Test func `values are required and hold only texts`() {
    func pointers(_ attributes: JSONValue) -> [String] {
      contract.read(attributes: attributes, now: Self.noon).problems.map(\.pointer)
    }
    #expect(pointers(["kind": "delivery", "values": ["orderId": "A-1"]]) == [])
    #expect(pointers(["values": [:]]) == [])
    #expect(pointers(["kind": "delivery"]) == ["/values"])
    #expect(pointers(["orderId": "A-1"]) == ["/values", "/orderId"])
    #expect(pointers(["values": ["n": 1]]) == ["/values/n"])
  }

  @Test func `a phone drops what the door refuses`() throws {
    for json in [#"{"data":{"stops":2}}"#, #"{"progress":"0.5"}"#] {
      #expect(throws: Undecodable.self) {
        try contract.decodedContentState(Data(json.utf8))
      }
    }
    #expect(throws: Undecodable.self) {
      try contract.decodedAttributes(Data(#"{"kind":"delivery"}"#.utf8))
    }
  }
}

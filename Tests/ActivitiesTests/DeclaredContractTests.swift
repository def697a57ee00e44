import Activities
import Foundation
import TestSupport
import Testing
import Vocabulary

/// The worked examples of the repository.
enum Declared {
  static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "deploy/contracts")

  static func schema(_ name: String) throws -> JSONValue {
    try JSONValue(parsing: Data(contentsOf: folder.appending(path: "\(name).json")))
  }

  static func contract(_ name: String) throws -> DeclaredContract {
    try DeclaredContract(reading: schema(name))
  }

  static let shopping: JSONValue = [
    "headline": "Wochenmarkt", "done": 3, "total": 9, "rev": 4,
    "next": [["name": "Fenchel", "amount": "2"], ["name": "Brot"]], "lastBy": "Jaqueline",
    "changedAt": .string("2026-06-18T12:00:00Z"),
  ]
  static let budget: JSONValue = [
    "label": "Urlaub", "leftCents": 41_250, "share": .number(0.45), "isOver": false,
    "byPerson": ["Dennis": 3000, "Jaqueline": 1700], "endsAt": .string("2026-07-01T00:00:00Z"),
    "bookedAt": .string("2026-06-18T12:00:00Z"),
  ]
}

/// A schema with one thing wrong.
private struct Broken: CustomTestStringConvertible, Sendable {
  let pointer: String
  let state: JSONValue

  init(_ pointer: String, _ state: JSONValue) {
    self.pointer = pointer
    self.state = state
  }

  var testDescription: String { pointer }
}

@Suite struct DeclaredContractTests {
  private static let state = "/properties/contentState"

  @Test(arguments: ["shopping", "budget"])
  func `the worked examples can be used`(name: String) throws {
    let contract = try Declared.contract(name)
    let state = name == "shopping" ? Declared.shopping : Declared.budget
    let reading = contract.read(contentState: state, now: Samples.noon)
    #expect(reading.problems == [])
    #expect(try contract.decodedContentState(reading.value.encoded) == reading.value)
  }

  @Test(arguments: [
    Broken("\(state)/properties/a/type", ["properties": ["a": ["type": "strnig"]]]),
    Broken(
      "\(state)/properties/a/maxlength",
      [
        "properties": ["a": ["type": "string", "maxlength": 3]]
      ]),
    Broken(
      "\(state)/properties/a/format",
      [
        "properties": ["a": ["type": "string", "format": "date-2001"]]
      ]),
    Broken("\(state)/properties/in", ["properties": ["in": ["type": "string"]]]),
    Broken("\(state)/required", ["properties": [:], "required": ["gone"]]),
    Broken("\(state)/additionalProperties", ["properties": [:], "additionalProperties": true]),
    Broken("\(state)/properties", ["properties": 3]),
  ])
  private func `what would be dropped in silence is refused by name`(broken: Broken) throws {
    guard case .object(var members) = broken.state else { return }
    members["type"] = "object"
    let schema: JSONValue = [
      "title": "TestAttributes",
      "properties": [
        "attributes": ["type": "object", "properties": ["id": ["type": "string"]]],
        "contentState": .object(members),
      ],
    ]
    #expect {
      try DeclaredContract(reading: schema)
    } throws: { error in
      (error as? UnusableContract)?.problems.map(\.pointer) == [broken.pointer]
    }
  }

  @Test func `the key attribute is a required string`() throws {
    guard case .object(var members) = try Declared.schema("shopping") else { return }
    members["x-key-attribute"] = "tint"
    #expect {
      try DeclaredContract(reading: .object(members))
    } throws: { error in
      (error as? UnusableContract)?.problems.map(\.pointer) == ["/x-key-attribute"]
    }
  }

  @Test func `two contracts of one type are refused`() throws {
    let shopping = try Declared.contract("shopping")
    #expect(throws: DuplicateContract.self) { try ContractCatalog(declared: [shopping, shopping]) }
  }
}

@Suite struct ContractChangeTests {
  /// The shopping contract with one member of its content state changed.
  private func changed(_ name: String, to field: JSONValue?, required: [JSONValue]? = nil) throws
    -> DeclaredContract
  {
    guard case .object(var file) = try Declared.schema("shopping"),
      case .object(var parts)? = file["properties"],
      case .object(var state)? = parts["contentState"],
      case .object(var fields)? = state["properties"]
    else { throw CocoaError(.fileReadCorruptFile) }
    fields[name] = field
    state["properties"] = .object(fields)
    if let required { state["required"] = .array(required) }
    parts["contentState"] = .object(state)
    file["properties"] = .object(parts)
    return try DeclaredContract(reading: .object(file))
  }

  private func pointers(_ new: DeclaredContract) throws -> [String] {
    ContractChange(from: try Declared.contract("shopping"), to: new).problems.map(\.pointer)
  }

  private let required: [JSONValue] = ["headline", "done", "total", "rev"]
  private let place = "/properties/contentState/properties"

  @Test func `a new optional field may come at any time`() throws {
    #expect(try pointers(changed("aisle", to: ["type": "string"])) == [])
    #expect(try pointers(Declared.contract("shopping")) == [])
  }

  @Test func `what breaks activities on screen is refused`() throws {
    let text: JSONValue = ["type": "string"]
    #expect(
      try pointers(changed("aisle", to: text, required: required + ["aisle"]))
        == ["\(place)/aisle"])
    #expect(try pointers(changed("done", to: text)) == ["\(place)/done"])
    #expect(
      try pointers(changed("rev", to: nil, required: required.dropLast())) == ["\(place)/rev"])
    #expect(try pointers(changed("lastBy", to: nil)) == ["\(place)/lastBy"])
    #expect(
      try pointers(changed("rev", to: ["type": "integer"], required: required.dropLast()))
        == ["\(place)/rev"])
    #expect(
      try pointers(changed("lastBy", to: text, required: required + ["lastBy"]))
        == ["\(place)/lastBy"])
    #expect(
      try pointers(changed("changedAt", to: ["type": "integer", "format": "date-1970"]))
        == ["\(place)/changedAt"])
  }
}

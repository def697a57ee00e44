import Activities
import Foundation
import TestSupport
import Testing
import Vocabulary

/// The struct that `lockstep contract swift` writes, compiled and run: it decodes what we send with
/// the plain decoder, as ActivityKit does, and drops what our own decoding says it drops.
@Suite struct SwiftSourceTests {
  @Test(arguments: ["shopping", "budget"])
  func `the source is the golden one`(name: String) throws {
    let contract = try Declared.contract(name)
    let source = SwiftSource(of: contract, about: contract.about)
    try expectGolden("\(name).swift.txt", Data(source.text.utf8))
  }

  @Test func `the compiled struct decodes what is sent and nothing else`() throws {
    let shopping = try Declared.contract("shopping")
    let budget = try Declared.contract("budget")
    let good = try [(shopping, Declared.shopping), (budget, Declared.budget)].map { pair in
      let reading = pair.0.read(contentState: pair.1, now: Samples.noon)
      try #require(reading.problems == [])
      return (pair.0, reading.value)
    }
    let bad: [(DeclaredContract, JSONValue)] = [
      (shopping, ["headline": "x", "done": 1, "total": 2]),
      (shopping, ["headline": "x", "done": "1", "total": 2, "rev": 1]),
      (shopping, ["headline": "x", "done": 1, "total": 2, "rev": 1, "next": [["amount": "2"]]]),
      (budget, ["label": "x", "leftCents": .number(1.5), "share": 0, "isOver": false]),
      (
        budget,
        ["label": "x", "leftCents": 1, "share": 0, "isOver": false, "byPerson": ["a": "b"]]
      ),
    ]
    // An unknown key is passed over.
    let odd: [(DeclaredContract, JSONValue)] = [
      (budget, ["label": "x", "leftCents": 1, "share": 0, "isOver": false, "colour": "red"])
    ]
    let all = good + bad + odd
    let ours = all.map { (try? $0.0.decodedContentState($0.1.encoded)) != nil }
    #expect(ours == [true, true, false, false, false, false, false, true])
    #expect(try compiledVerdicts([shopping, budget], all) == ours)
  }

  /// What a program with these structs says of each state.
  private func compiledVerdicts(
    _ contracts: [DeclaredContract], _ states: [(DeclaredContract, JSONValue)]
  ) throws -> [Bool] {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "lockstep-contract-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // Whatever is left of it goes with the machine's temporary files.
    defer { try? FileManager.default.removeItem(at: folder) }
    var files: [String] = []
    for contract in contracts {
      let file = folder.appending(path: "\(contract.attributesType).swift")
      try Data(SwiftSource(of: contract).text.utf8).write(to: file)
      files.append(file.path)
    }
    let checks = states.map { contract, state in
      let text = String(decoding: state.encoded, as: UTF8.self)
      return "check(\(contract.attributesType).ContentState.self, ####\"\(text)\"####)"
    }
    let main = """
      import Foundation
      func check<State: Decodable>(_ type: State.Type, _ json: String) {
        print((try? JSONDecoder().decode(type, from: Data(json.utf8))) != nil)
      }
      \(checks.joined(separator: "\n"))

      """
    let mainFile = folder.appending(path: "main.swift")
    try Data(main.utf8).write(to: mainFile)
    let program = folder.appending(path: "program").path
    _ = try output(of: "swiftc", files + [mainFile.path, "-o", program])
    return try output(of: program, []).split(separator: "\n").map { $0 == "true" }
  }

  private func output(of program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [program] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(program) \(arguments)")
    return String(decoding: data, as: UTF8.self)
  }
}

import Activities
import Foundation
import Pipeline
import ServiceRuntime
import Vocabulary

/// `lockstep contract check | swift FILE`: says what ActivityKit would swallow, before it does.
///
/// FILE is a contract's schema, or the attributes type of one that is compiled in.
enum ContractCommand {
  static let options: [(flag: String, help: String)] = [
    ("--against=", "check: refuses what breaks activities on screen that were made by this one"),
    ("--attributes=", "check: a file of attributes, read as the API would"),
    ("--content-state=", "check: a file of a content state, read as the API would"),
    ("--json", "check: an array of flat objects"),
  ]
  static let operand = "check FILE | swift FILE"

  static func run(_ invocation: Invocation) throws {
    let words = invocation.arguments.words
    let options = invocation.arguments.options
    guard words.count == 2 else { throw CommandFailure(.usage, "contract wants: \(operand)") }
    switch words[0] {
    case "check": try check(words[1], options, Prints(invocation))
    case "swift":
      if let foreign = options.keys.sorted().first {
        throw CommandFailure(.usage, "contract swift has no flag --\(foreign)")
      }
      let contract = try usable(words[1])
      let about = (contract as? DeclaredContract)?.about
      print(SwiftSource(of: contract, about: about).text, terminator: "")
    default: throw CommandFailure(.usage, "contract wants: \(operand)")
    }
  }

  private static func check(_ name: String, _ options: [String: String], _ prints: Prints) throws {
    var found: [(file: String, problem: ContractProblem)] = []
    do {
      let contract = try contract(name)
      if let old = options["against"] {
        found += ContractChange(from: try usable(old), to: contract).problems.map { (name, $0) }
      }
      let now = SystemTime().now()
      if let file = options["attributes"] {
        found += contract.read(attributes: try json(file), now: now).problems.map { (file, $0) }
      }
      if let file = options["content-state"] {
        found += contract.read(contentState: try json(file), now: now).problems.map { (file, $0) }
      }
    } catch let error as UnusableContract {
      found += error.problems.map { (name, $0) }
    }
    var table = Table(["file", "pointer", "detail"])
    for (file, problem) in found {
      table.add([.string(file), .string(problem.pointer), .string(problem.detail)])
    }
    prints.table(table, otherwise: "nothing that ActivityKit would swallow")
    guard found.isEmpty else {
      throw CommandFailure(.differs, "\(name): \(found.count) problems")
    }
  }

  private static func json(_ path: String) throws -> JSONValue {
    do {
      return try JSONValue(parsing: Reading.file(path))
    } catch let complaint as Reading.Complaint {
      throw CommandFailure(.noInput, "\(path): \(complaint)")
    } catch {
      throw CommandFailure(.configuration, "\(path): is not JSON: \(error)")
    }
  }

  /// One whose own problems end the command.
  private static func usable(_ name: String) throws -> any ActivityContract {
    do {
      return try contract(name)
    } catch let error as UnusableContract {
      throw CommandFailure(.configuration, "\(name): \(error)")
    }
  }

  private static func contract(_ name: String) throws -> any ActivityContract {
    if let builtIn = ContractCatalog.builtIn[name] { return builtIn }
    do {
      return try ContractFiles.declared(name)
    } catch let complaint as Reading.Complaint {
      throw CommandFailure(.noInput, "\(name): \(complaint)")
    }
  }
}

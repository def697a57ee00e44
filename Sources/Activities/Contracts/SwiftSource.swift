/// The Swift struct of a contract, for the app: what it decodes is what the server sends.
package struct SwiftSource: Hashable, Sendable {
  package let text: String

  package init(of contract: any ActivityContract, about: String? = nil) {
    var lines = [
      "// Written by `lockstep contract swift`: change the contract, not this file.",
      "import Foundation", "",
    ]
    lines += (about ?? "").split(separator: "\n").map { "/// \($0)" }
    lines.append("public struct \(contract.attributesType): Codable, Hashable, Sendable {")
    lines += Self.fields(contract.attributes).indented
    lines += ["", "  public struct ContentState: Codable, Hashable, Sendable {"]
    lines += Self.fields(contract.contentState).indented.indented
    lines += ["  }", "}"]
    lines += [
      "", "#if canImport(ActivityKit) && os(iOS) && !targetEnvironment(macCatalyst)",
      "  import ActivityKit", "", "  @available(iOS 16.1, *)",
      "  extension \(contract.attributesType): ActivityAttributes {}", "#endif", "",
    ]
    text = lines.joined(separator: "\n")
  }

  private static func fields(_ shape: Shape) -> [String] {
    var lines: [String] = []
    var nested: [String] = []
    for field in shape.fields {
      lines += (field.about ?? "").split(separator: "\n").map { "/// \($0)" }
      if case .date(.text) = field.type { lines.append("/// RFC 3339.") }
      if case .date(.unix) = field.type { lines.append("/// Seconds since 1970.") }
      let type = name(of: field.type, field.name)
      lines.append("public var \(field.name): \(type)\(field.isRequired ? "" : "?")")
      if let (inner, shape) = object(in: field.type, field.name) {
        nested += ["", "public struct \(inner): Codable, Hashable, Sendable {"]
        nested += fields(shape).indented + ["}"]
      }
    }
    return lines + nested
  }

  private static func name(of type: FieldType, _ field: String) -> String {
    switch type {
    case .text, .date(.text): "String"
    case .whole, .date(.unix): "Int"
    case .number: "Double"
    case .flag: "Bool"
    case .date(.apple): "Date"
    case .list(let element): "[\(name(of: element, field))]"
    case .map(let element): "[String: \(name(of: element, field))]"
    case .object: structName(field)
    }
  }

  private static func object(in type: FieldType, _ field: String) -> (name: String, Shape)? {
    switch type {
    case .object(let shape): (structName(field), shape)
    case .list(let element), .map(let element): object(in: element, field)
    default: nil
    }
  }

  private static func structName(_ field: String) -> String {
    field.prefix(1).uppercased() + field.dropFirst()
  }
}

extension [String] {
  fileprivate var indented: [String] { map { $0.isEmpty ? $0 : "  \($0)" } }
}

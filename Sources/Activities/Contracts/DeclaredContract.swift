import Vocabulary

/// A contract that an installation declares in a small JSON-Schema file, one per activity type:
///
///     { "title": "ShoppingActivityAttributes", "type": "object",
///       "x-key-attribute": "listKey",
///       "properties": {
///         "attributes": { "type": "object", "properties": { … }, "required": [ … ] },
///         "contentState": { "type": "object", "properties": { … }, "required": [ … ] } } }
///
/// A field is a `string` (`maxLength`), `integer`, `number` (`minimum` and `maximum`), `boolean`,
/// an `array` with `items`, an `object` with `properties` or with `additionalProperties` of one
/// type. A date says its `format`, one of ``DateForm``. Whatever is not in `required` is optional
/// in Swift and left out when absent.
package struct DeclaredContract: ActivityContract, Hashable {
  package let attributesType: String
  package let attributes: Shape
  package let contentState: Shape
  package let keyAttribute: String?
  /// What the file says it is for.
  package let about: String?

  /// Reads the text of a file.
  ///
  /// - Throws: ``UnusableContract`` with everything that is wrong.
  package init(reading text: JSONValue) throws(UnusableContract) {
    var reader = SchemaReader()
    let file = reader.members(
      of: text, at: "",
      known: [
        "$schema", "$id", "title", "description", "type", "properties", "required",
        "additionalProperties", "x-key-attribute",
      ])
    attributesType = reader.identifier(file["title"], at: "/title")
    about = SchemaReader.text(file["description"])
    let parts = reader.members(
      of: file["properties"] ?? .null, at: "/properties", known: ["attributes", "contentState"])
    attributes = reader.shape(parts["attributes"] ?? .null, at: "/properties/attributes")
    contentState = reader.shape(parts["contentState"] ?? .null, at: "/properties/contentState")
    keyAttribute = SchemaReader.text(file["x-key-attribute"])
    if let keyAttribute {
      let field = attributes.field(keyAttribute)
      if case .text? = field?.type, field?.isRequired == true {
      } else {
        reader.refuse(
          "/x-key-attribute",
          "names \(keyAttribute), want an attribute that is a required string")
      }
    }
    guard reader.problems.isEmpty else { throw UnusableContract(problems: reader.problems) }
  }
}

/// Everything that is wrong with a contract's file.
package struct UnusableContract: Error, Hashable, CustomStringConvertible {
  package let problems: [ContractProblem]

  package var description: String {
    problems.map { "\($0.pointer): \($0.detail)" }.joined(separator: "\n")
  }
}

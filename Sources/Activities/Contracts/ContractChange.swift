/// What a new version of a contract does to activities that are on screen now, and to apps that
/// still have the old struct: all of it happens in silence.
package struct ContractChange: Hashable, Sendable {
  /// Empty when the new version may be used beside the old one.
  package private(set) var problems: [ContractProblem] = []

  package init(from old: any ActivityContract, to new: any ActivityContract) {
    if old.attributesType != new.attributesType {
      note(
        "/title",
        "was \(old.attributesType) and is \(new.attributesType): apps that know the old name start"
          + " no card")
    }
    if old.keyAttribute != new.keyAttribute {
      note(
        "/x-key-attribute",
        "was \(old.keyAttribute ?? "none") and is \(new.keyAttribute ?? "none"): apps would"
          + " register update tokens under another name")
    }
    compare(old.attributes, new.attributes, at: "/properties/attributes")
    compare(old.contentState, new.contentState, at: "/properties/contentState")
  }

  private mutating func note(_ pointer: String, _ detail: String) {
    problems.append(ContractProblem(pointer: pointer, detail: detail))
  }

  private mutating func compare(_ old: Shape, _ new: Shape, at pointer: String) {
    for field in old.fields {
      let place = "\(pointer)/properties/\(field.name)"
      guard let next = new.field(field.name) else {
        note(
          place,
          field.isRequired
            ? "was required and is gone: an app with the old struct could decode no push"
            : "is gone: an app with the old struct would go on showing nothing in its place")
        continue
      }
      compare(field, next, at: place)
    }
    for field in new.fields where old.field(field.name) == nil && field.isRequired {
      note(
        "\(pointer)/properties/\(field.name)",
        "is new and required: an app with the new struct could not decode the state that is on"
          + " screen; make it optional")
    }
  }

  private mutating func compare(_ old: Shape.Field, _ new: Shape.Field, at place: String) {
    switch (old.isRequired, new.isRequired) {
    case (true, false):
      note(
        place,
        "was required and is optional: an app with the old struct decodes no push"
          + " without it")
    case (false, true):
      note(
        place,
        "was optional and is required: an app with the new struct could not decode a"
          + " state without it")
    default: break
    }
    compare(old.type, new.type, at: place)
  }

  private mutating func compare(_ old: FieldType, _ new: FieldType, at place: String) {
    switch (old, new) {
    case (.text, .text), (.whole, .whole), (.number, .number), (.flag, .flag): break
    case (.date(let before), .date(let after)) where before == after: break
    case (.list(let before), .list(let after)): compare(before, after, at: "\(place)/items")
    case (.map(let before), .map(let after)):
      compare(before, after, at: "\(place)/additionalProperties")
    case (.object(let before), .object(let after)): compare(before, after, at: place)
    default:
      note(
        place,
        "was \(old.name) and is \(new.name): neither struct decodes what is meant for the"
          + " other")
    }
  }
}

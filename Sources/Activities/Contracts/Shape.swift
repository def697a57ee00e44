import Vocabulary

/// The fields of one Swift struct, as its `Codable` reads and writes them.
package struct Shape: Hashable, Sendable {
  package struct Field: Hashable, Sendable {
    /// As in JSON and in Swift.
    package let name: String
    package let type: FieldType
    /// Without it the whole struct does not decode.
    package let isRequired: Bool
    package let absent: AbsentForm
    /// What it means, for the Swift source.
    package let about: String?

    package init(
      _ name: String, _ type: FieldType, isRequired: Bool = true,
      absent: AbsentForm = .leftOut, about: String? = nil
    ) {
      self.name = name
      self.type = type
      self.isRequired = isRequired
      self.absent = absent
      self.about = about
    }
  }

  /// How a field without a value is written.
  package enum AbsentForm: Hashable, Sendable {
    case leftOut
    case null
    /// Written all the same, as this.
    case written(JSONValue)
  }

  /// In the order that a person reads them.
  package let fields: [Field]

  package init(_ fields: [Field]) { self.fields = fields }

  package func field(_ name: String) -> Field? { fields.first { $0.name == name } }
}

/// What one field holds.
package indirect enum FieldType: Hashable, Sendable {
  /// At most `max` Unicode scalars.
  case text(max: Int = FieldType.textMax)
  /// `Int`.
  case whole
  /// `Double`, within `range` when there is one.
  case number(ClosedRange<Double>? = nil)
  case flag
  case date(DateForm)
  case list(FieldType)
  /// From texts to one type.
  case map(FieldType)
  case object(Shape)

  /// The longest text where a contract says nothing else.
  package static let textMax = 1000
  /// The most elements of a list or a map.
  package static let elementsMax = 100
  /// How far a date may lie from now before it is taken for one of another epoch, in seconds: the
  /// epochs of Unix and of Apple are 31 years apart.
  package static let yearsMax: Double = 20
  static let yearSeconds: Double = 365.25 * 86_400
}

/// How a date travels inside a content state.
package enum DateForm: String, Hashable, Sendable, CaseIterable {
  /// Swift's `Date` as its plain `Codable` writes it: seconds since 2001-01-01T00:00:00Z.
  case apple = "date-2001"
  /// Whole seconds since 1970, an `Int` in Swift.
  case unix = "date-1970"
  /// RFC 3339, a `String` in Swift.
  case text = "date-time"

  /// From 1970 to 2001, in seconds.
  package static let appleEpoch: Int64 = 978_307_200
}

extension FieldType {
  /// What a person calls it.
  package var name: String {
    switch self {
    case .text: "a string"
    case .whole: "a whole number"
    case .number: "a number"
    case .flag: "a boolean"
    case .date(.apple): "seconds since 2001-01-01, or an RFC 3339 time"
    case .date(.unix): "whole seconds since 1970-01-01, or an RFC 3339 time"
    case .date(.text): "an RFC 3339 time"
    case .list(let element): "an array, each element \(element.name)"
    case .map(let element): "an object, each value \(element.name)"
    case .object: "an object"
    }
  }
}

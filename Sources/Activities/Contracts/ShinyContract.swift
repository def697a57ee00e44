import ActivityContracts
import Foundation
import Vocabulary

/// The one contract that every app built with Shiny.Mobile.LiveActivities has.
///
/// A Shiny app learns an activity's id and token and never its attributes, so it registers update
/// tokens without a context key.
package struct ShinyContract: ActivityContract {
  package let attributesType = ShinyActivityAttributes.activityType
  package let linkMember = "deeplink"

  package let attributes = Shape([
    .init("kind", .text(), isRequired: false),
    .init("values", .map(.text())),
  ])

  package let contentState = Shape([
    .init("title", .text(), isRequired: false),
    .init("body", .text(), isRequired: false),
    .init("shortStatus", .text(), isRequired: false),
    .init("progress", .number(0...1), isRequired: false),
    .init("progressStart", .date(.apple), isRequired: false),
    .init("progressEnd", .date(.apple), isRequired: false),
    .init("indeterminate", .flag, isRequired: false),
    .init("data", .map(.text()), isRequired: false, absent: .written([:])),
  ])

  package init() {}

  /// Shiny's own serializer writes `indeterminate` only when it is true.
  package func written(contentState members: [String: JSONValue]) -> [String: JSONValue] {
    members.filter { $0.key != "indeterminate" || $0.value == true }
  }

  package func problems(inContentState state: [String: JSONValue]) -> [ContractProblem] {
    switch (seconds(state["progressStart"]), seconds(state["progressEnd"])) {
    case (nil, nil): []
    case (.some, nil): [alone("progressEnd", beside: "progressStart")]
    case (nil, .some): [alone("progressStart", beside: "progressEnd")]
    case (let start?, let end?) where start > end:
      [
        ContractProblem(
          pointer: "/progressEnd",
          detail: "progressEnd lies before progressStart; SwiftUI ends the widget over such a range"
        )
      ]
    default: []
    }
  }

  private func alone(_ name: String, beside other: String) -> ContractProblem {
    ContractProblem(
      pointer: "/\(name)",
      detail: "\(name) is missing beside \(other), want both or none; the card would show no range")
  }

  private func seconds(_ value: JSONValue?) -> Double? {
    switch value {
    case .integer(let whole): Double(whole)
    case .number(let number): number
    default: nil
    }
  }

  package func decodedAttributes(_ json: Data) throws -> JSONValue {
    try asApp(ShinyActivityAttributes.self, json)
  }

  package func decodedContentState(_ json: Data) throws -> JSONValue {
    try asApp(ShinyActivityAttributes.ContentState.self, json)
  }
}

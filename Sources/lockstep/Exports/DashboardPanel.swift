import Vocabulary

/// One panel of the Grafana dashboard.
struct DashboardPanel {
  enum Form: String {
    case series = "timeseries"
    case figure = "stat"
    case row
  }

  struct Query {
    let expression: String
    /// `{{stage}}`, or plain words.
    let legend: String
  }

  let form: Form
  let title: String
  /// What it means, for whoever has not built it.
  let description: String
  /// Grafana's name: `s`, `short`, `ops`, `bytes`, `percentunit`.
  let unit: String
  let queries: [Query]

  init(
    _ form: Form = .series, _ title: String, _ description: String = "", unit: String = "short",
    _ queries: [(String, String)] = []
  ) {
    self.form = form
    self.title = title
    self.description = description
    self.unit = unit
    self.queries = queries.map { Query(expression: $0.0, legend: $0.1) }
  }

  static func row(_ title: String) -> DashboardPanel { DashboardPanel(.row, title) }

  /// In units of Grafana's grid, which is 24 wide.
  var size: (width: Int, height: Int) {
    switch form {
    case .series: (8, 8)
    case .figure: (4, 4)
    case .row: (24, 1)
    }
  }

  func json(id: Int, x: Int, y: Int) -> JSONValue {
    let position: JSONValue = [
      "x": .integer(Int64(x)), "y": .integer(Int64(y)), "w": .integer(Int64(size.width)),
      "h": .integer(Int64(size.height)),
    ]
    var panel: [String: JSONValue] = [
      "id": .integer(Int64(id)), "type": .string(form.rawValue), "title": .string(title),
      "gridPos": position,
    ]
    guard form != .row else {
      panel["collapsed"] = .bool(false)
      panel["panels"] = .array([])
      return .object(panel)
    }
    panel["description"] = .string(description)
    panel["datasource"] = Self.source
    panel["fieldConfig"] = fieldConfiguration
    panel["options"] = options
    panel["targets"] = .array(
      queries.enumerated().map { place, query in
        [
          "refId": .string(String(UnicodeScalar(UInt8(65 + place)))), "datasource": Self.source,
          "expr": .string(query.expression), "legendFormat": .string(query.legend),
        ]
      })
    return .object(panel)
  }

  private static let source: JSONValue = ["type": "prometheus", "uid": "${datasource}"]

  private var fieldConfiguration: JSONValue {
    let custom: JSONValue =
      form == .series
      ? ["lineWidth": 2, "fillOpacity": 8, "showPoints": "never", "spanNulls": .bool(true)]
      : .object([:])
    return [
      "defaults": ["unit": .string(unit), "min": 0, "custom": custom], "overrides": .array([]),
    ]
  }

  private var options: JSONValue {
    form == .figure
      ? ["reduceOptions": ["calcs": ["lastNotNull"]], "colorMode": "none"]
      : [
        "legend": ["displayMode": "list", "placement": "bottom"],
        "tooltip": ["mode": "multi", "sort": "desc"],
      ]
  }
}

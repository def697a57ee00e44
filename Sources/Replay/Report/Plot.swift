import Foundation

/// One plot over time as inline SVG. A value; colours come from the page's style.
struct Plot {
  struct Line {
    let name: String
    /// The class that gives it its colour: `c0` to `c7`.
    let style: Int
    /// Seconds and value, in the order of time.
    let points: [(at: Double, value: Double)]
  }

  private static let width = 760.0
  private static let height = 200.0
  private static let left = 56.0
  private static let right = 12.0
  private static let top = 10.0
  private static let bottom = 26.0
  /// Points further apart than so many of their usual distances are not joined.
  private static let gapFactor = 6.0

  let title: String
  let unit: String
  let lines: [Line]
  /// Values from 1 on, tenfold from line to line.
  var isLogarithmic = false
  /// Seconds that the axis reaches at least.
  var length = 1.0
  /// Seconds that are marked, with what is there.
  var marks: [(at: Double, text: String)] = []

  var svg: String {
    let points = lines.flatMap(\.points)
    guard !points.isEmpty else {
      return "<figure><figcaption>\(Self.escaped(title))</figcaption>"
        + "<p class=\"none\">nothing was measured</p></figure>"
    }
    let end = max(points.map(\.at).max() ?? 1, marks.map(\.at).max() ?? 0, length)
    let scale = Scale(largest: points.map(\.value).max() ?? 1, isLogarithmic: isLogarithmic)
    func x(_ at: Double) -> Double {
      Self.left + at / end * (Self.width - Self.left - Self.right)
    }
    func y(_ value: Double) -> Double {
      Self.top + (1 - scale.place(of: value)) * (Self.height - Self.top - Self.bottom)
    }
    var parts = [
      "<figure><figcaption>\(Self.escaped(title)) <span>\(Self.escaped(unit))</span></figcaption>",
      "<svg viewBox=\"0 0 \(Int(Self.width)) \(Int(Self.height))\" role=\"img\" "
        + "aria-label=\"\(Self.escaped(title))\">",
    ]
    for tick in scale.ticks {
      parts.append(
        "<path class=\"grid\" d=\"M\(Self.left) \(Self.short(y(tick)))"
          + "H\(Self.width - Self.right)\"/>"
          + "<text class=\"y\" x=\"\(Self.short(Self.left - 6))\" y=\"\(Self.short(y(tick) + 4))\">"
          + "\(Self.number(tick))</text>")
    }
    for tick in Self.timeTicks(end) {
      parts.append(
        "<text class=\"x\" x=\"\(Self.short(x(tick)))\" y=\"\(Self.height - 8)\">"
          + "\(RunProgress.clock(.seconds(tick)))</text>")
    }
    for mark in marks {
      parts.append(
        "<path class=\"mark\" d=\"M\(Self.short(x(mark.at))) \(Self.top)"
          + "V\(Self.height - Self.bottom)\"/>"
          + "<text class=\"mark\" x=\"\(Self.short(x(mark.at) - 4))\" y=\"\(Self.top + 10)\">"
          + "\(Self.escaped(mark.text))</text>")
    }
    for line in lines {
      parts.append("<path class=\"line c\(line.style)\" d=\"\(path(line.points, x, y))\"/>")
    }
    parts.append("</svg>")
    parts.append(legend)
    return parts.joined(separator: "\n") + "</figure>"
  }

  private func path(
    _ points: [(at: Double, value: Double)], _ x: (Double) -> Double, _ y: (Double) -> Double
  ) -> String {
    let distances = zip(points, points.dropFirst()).map { $1.at - $0.at }.sorted()
    let usual = distances.isEmpty ? 1 : distances[distances.count / 2]
    var path = ""
    var before: Double?
    for point in points {
      let isJoined = before.map { point.at - $0 <= usual * Self.gapFactor } ?? false
      path += "\(isJoined ? "L" : "M")\(Self.short(x(point.at))) \(Self.short(y(point.value)))"
      before = point.at
    }
    return path
  }

  private var legend: String {
    let names = lines.map { line in
      let last = line.points.map(\.value).max() ?? 0
      return "<span><i class=\"c\(line.style)\"></i>\(Self.escaped(line.name)) "
        + "<b>max \(Self.number(last))</b></span>"
    }
    return "<div class=\"legend\">\(names.joined(separator: " "))</div>"
  }

  static func timeTicks(_ end: Double) -> [Double] {
    let steps = [1.0, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 86_400]
    let step = steps.first { end / $0 <= 8 } ?? 86_400
    return Array(stride(from: 0, through: end, by: step))
  }

  /// Three digits are enough for an eye.
  static func number(_ value: Double) -> String {
    switch abs(value) {
    case 10_000...: "\(Int((value / 1000).rounded()))k"
    case 1000...: "\(short(value / 1000))k"
    case 10...: "\(Int(value.rounded()))"
    case 1...: short(value)
    default: value == 0 ? "0" : String(format: "%.2f", value)
    }
  }

  static func short(_ value: Double) -> String {
    let text = String(format: "%.1f", value)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }

  static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
      .replacing("\"", with: "&quot;")
  }
}

/// How high a value stands in a plot, and which values are named beside it.
struct Scale: Hashable {
  let top: Double
  let isLogarithmic: Bool

  init(largest: Double, isLogarithmic: Bool) {
    self.isLogarithmic = isLogarithmic
    if isLogarithmic {
      top = pow(10, max(1, log10(max(largest, 1)).rounded(.up)))
    } else {
      let power = pow(10, log10(max(largest, 0.01)).rounded(.down))
      let factor = [1.0, 2, 2.5, 5, 10].first { $0 * power >= largest } ?? 10
      top = factor * power
    }
  }

  /// From 0 to 1.
  func place(of value: Double) -> Double {
    let place = isLogarithmic ? log10(max(value, 1)) / log10(top) : value / top
    return min(1, max(0, place))
  }

  var ticks: [Double] {
    guard isLogarithmic else { return (0...4).map { top * Double($0) / 4 } }
    return (0...Int(log10(top).rounded())).map { pow(10, Double($0)) }
  }
}

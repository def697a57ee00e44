import Vocabulary

// Reading at the door: everything that ActivityKit would swallow is a problem with a name.
extension Shape {
  func read(_ value: JSONValue, of type: String, now: UnixTime) -> ContractReading {
    var reader = StrictReader(type: type, now: now)
    let written = reader.object(value, self, at: "")
    return ContractReading(value: written, problems: reader.problems)
  }
}

private struct StrictReader {
  let type: String
  let now: UnixTime
  private(set) var problems: [ContractProblem] = []

  init(type: String, now: UnixTime) {
    self.type = type
    self.now = now
  }

  /// - Returns: the object as it is sent; a stand-in after a problem.
  mutating func object(_ value: JSONValue, _ shape: Shape, at pointer: String) -> JSONValue {
    guard case .object(let members) = value else {
      refuse(pointer, "is \(value.typeName), want an object", .dropped)
      return [:]
    }
    var written: [String: JSONValue] = [:]
    for field in shape.fields {
      let place = pointer + "/" + escaped(field.name)
      if let given = members[field.name], given != .null {
        written[field.name] = self.value(given, field.type, at: place)
      } else if field.isRequired, field.absent == .leftOut {
        let what = members[field.name] == nil ? "is missing" : "is null"
        refuse(place, "\(what), want \(field.type.name)", .dropped)
      } else {
        switch field.absent {
        case .leftOut: break
        case .null: written[field.name] = .null
        case .written(let value): written[field.name] = value
        }
      }
    }
    for name in members.keys.sorted() where shape.field(name) == nil {
      refuse(pointer + "/" + escaped(name), "is no field of \(type)", .ignored)
    }
    return .object(written)
  }

  private mutating func value(_ value: JSONValue, _ type: FieldType, at place: String) -> JSONValue
  {
    switch (type, value) {
    case (.text(let max), .string(let text)):
      let length = text.unicodeScalars.count
      if length > max { refuse(place, "has \(length) characters, want at most \(max)", .tooLong) }
    case (.whole, .integer), (.flag, .bool): break
    case (.number(let range), .integer(let whole)): check(Double(whole), range, at: place)
    case (.number(let range), .number(let number)): check(number, range, at: place)
    case (.date(let form), _): return date(value, form, at: place)
    case (.list(let element), .array(let elements)):
      check(elements.count, at: place)
      return .array(
        elements.enumerated().map { self.value($1, element, at: "\(place)/\($0)") })
    case (.map(let element), .object(let members)):
      check(members.count, at: place)
      return .object(
        Dictionary(
          uniqueKeysWithValues: members.sorted { $0.key < $1.key }.map { name, member in
            (name, self.value(member, element, at: place + "/" + escaped(name)))
          }))
    case (.object(let shape), .object): return object(value, shape, at: place)
    default: refuse(place, "is \(value.typeName), want \(type.name)", .dropped)
    }
    return value
  }

  private mutating func check(_ number: Double, _ range: ClosedRange<Double>?, at place: String) {
    guard let range, !range.contains(number) else { return }
    refuse(place, "is \(number), want \(range.lowerBound) to \(range.upperBound)", .misread)
  }

  private mutating func check(_ count: Int, at place: String) {
    guard count > FieldType.elementsMax else { return }
    refuse(place, "holds \(count), want at most \(FieldType.elementsMax)", .tooLong)
  }

  /// A caller may write RFC 3339 for any date; the other forms are our conversion.
  private mutating func date(_ value: JSONValue, _ form: DateForm, at place: String) -> JSONValue {
    let given: Double
    switch value {
    case .string(let text):
      guard let moment = UnixTime(text) else {
        refuse(
          place, "is \"\(text.prefix(40))\", want \(FieldType.date(form).name)", .dropped)
        return value
      }
      if form == .text { return value }
      let unix = Double(moment.milliseconds) / 1000
      given = form == .apple ? unix - Double(DateForm.appleEpoch) : unix.rounded(.down)
    case .integer(let whole) where form != .text: given = Double(whole)
    case .number(let number) where form == .apple: given = number
    default:
      refuse(place, "is \(value.typeName), want \(FieldType.date(form).name)", .dropped)
      return value
    }
    let today =
      Double(now.milliseconds) / 1000 - (form == .apple ? Double(DateForm.appleEpoch) : 0)
    let years = (given - today) / FieldType.yearSeconds
    if abs(years) > FieldType.yearsMax {
      refuse(
        place,
        "lies \(Int(min(abs(years), 1e6))) years \(years < 0 ? "back" : "ahead"), read as seconds"
          + " since \(form == .apple ? 2001 : 1970), want at most \(Int(FieldType.yearsMax))"
          + (misread(given, as: form, today).map { "; it looks like \($0)" } ?? ""), .misread)
    }
    return Int64(exactly: given).map(JSONValue.integer) ?? .number(given)
  }

  /// What a date would have to count to lie near today; nil when nothing explains it.
  private func misread(_ given: Double, as form: DateForm, _ today: Double) -> String? {
    func isNear(_ moment: Double) -> Bool {
      abs(moment - today) <= FieldType.yearsMax * FieldType.yearSeconds
    }
    if isNear(given / 1000) { return "milliseconds" }
    let epochs = Double(DateForm.appleEpoch)
    if isNear(form == .apple ? given - epochs : given + epochs) {
      return "seconds since \(form == .apple ? 1970 : 2001)"
    }
    return nil
  }

  /// What becomes of it on a phone.
  private enum Fate: String {
    case dropped = "ActivityKit would drop the whole state without a word"
    case ignored = "ActivityKit would ignore it without a word"
    case misread = "the card would show something else than was meant"
    case tooLong = "it would not fit into a push"
  }

  private mutating func refuse(_ pointer: String, _ complaint: String, _ fate: Fate) {
    let name = pointer.dropFirst().replacing("/", with: ".")
    problems.append(
      ContractProblem(
        pointer: pointer,
        detail: "\(name.isEmpty ? "it" : name) \(complaint); \(fate.rawValue)"))
  }

  private func escaped(_ name: String) -> String {
    String(name.prefix(100)).replacing("~", with: "~0").replacing("/", with: "~1")
  }
}

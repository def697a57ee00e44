import Activities
import Foundation
import Pipeline
import Pushes
import Sessions
import Vocabulary

/// Statements of one table. Raw values are literals, so no value can be pasted into the text, and a
/// test can look at the plan of each.
package protocol SQLText: RawRepresentable<String>, CaseIterable, Sendable {}

/// What can be bound to a parameter and read from a column.
protocol SQLValue {
  static var type: SQLType { get }
  /// The type as a parameter: its own, or that of arrays of it.
  static var parameterType: UInt32 { get }
  /// Appends the value in binary form.
  ///
  /// - Returns: false for NULL; then nothing was appended.
  func write(to bytes: inout [UInt8]) -> Bool
  static func read(_ field: Field) throws -> Self
}

extension SQLValue {
  static var parameterType: UInt32 { type.number }
}

extension Optional: SQLValue where Wrapped: SQLValue {
  static var type: SQLType { Wrapped.type }
  static var parameterType: UInt32 { Wrapped.parameterType }

  func write(to bytes: inout [UInt8]) -> Bool { self?.write(to: &bytes) ?? false }

  static func read(_ field: Field) throws -> Wrapped? {
    field.isNull ? nil : try Wrapped.read(field)
  }
}

extension Int64: SQLValue {
  static var type: SQLType { .integer }

  func write(to bytes: inout [UInt8]) -> Bool {
    bytes.append(bigEndian: self)
    return true
  }

  static func read(_ field: Field) throws -> Int64 {
    let bytes = field.bytes
    guard !field.isNull, bytes.count == 8 else { throw field.unreadable("a number") }
    return bytes.reduce(0) { $0 << 8 | Int64($1) }
  }
}

extension Bool: SQLValue {
  static var type: SQLType { .boolean }

  func write(to bytes: inout [UInt8]) -> Bool {
    bytes.append(self ? 1 : 0)
    return true
  }

  static func read(_ field: Field) throws -> Bool {
    guard !field.isNull, field.bytes.count == 1 else { throw field.unreadable("true or false") }
    return field.bytes[0] != 0
  }
}

extension String: SQLValue {
  static var type: SQLType { .text }

  func write(to bytes: inout [UInt8]) -> Bool {
    var text = self
    text.withUTF8 { StoredText.write($0, to: &bytes) }
    return true
  }

  static func read(_ field: Field) throws -> String {
    guard !field.isNull else { throw field.unreadable("text") }
    return StoredText.read(field.bytes) { String(decoding: $0, as: UTF8.self) }
  }
}

/// JSON text, kept byte for byte in a text column.
struct JSONText: SQLValue {
  let data: Data

  static var type: SQLType { .text }

  func write(to bytes: inout [UInt8]) -> Bool {
    data.withUnsafeBytes { StoredText.write($0.bindMemory(to: UInt8.self), to: &bytes) }
    return true
  }

  static func read(_ field: Field) throws -> JSONText {
    guard !field.isNull else { throw field.unreadable("JSON") }
    return JSONText(data: StoredText.read(field.bytes) { Data($0) })
  }
}

extension Data: SQLValue {
  static var type: SQLType { .bytes }

  func write(to bytes: inout [UInt8]) -> Bool {
    bytes.append(contentsOf: self)
    return true
  }

  static func read(_ field: Field) throws -> Data {
    guard !field.isNull else { throw field.unreadable("bytes") }
    return Data(field.bytes)
  }
}

// MARK: Values of ours

extension Int: SQLValue {
  static var type: SQLType { .integer }
  func write(to bytes: inout [UInt8]) -> Bool { Int64(self).write(to: &bytes) }
  static func read(_ field: Field) throws -> Int { Int(try Int64.read(field)) }
}

extension UnixTime: SQLValue {
  static var type: SQLType { .integer }
  func write(to bytes: inout [UInt8]) -> Bool { milliseconds.write(to: &bytes) }

  static func read(_ field: Field) throws -> UnixTime {
    UnixTime(milliseconds: try Int64.read(field))
  }
}

extension Identifier: SQLValue {
  static var type: SQLType { .text }
  func write(to bytes: inout [UInt8]) -> Bool { text.write(to: &bytes) }
  static func read(_ field: Field) throws -> Identifier { Identifier(try String.read(field)) }
}

extension PushToken: SQLValue {
  static var type: SQLType { .text }
  func write(to bytes: inout [UInt8]) -> Bool { hex.write(to: &bytes) }

  static func read(_ field: Field) throws -> PushToken {
    do {
      return try PushToken(hex: String.read(field))
    } catch let error as PushTokenError {
      throw field.unreadable("a token: it \(error)")
    }
  }
}

extension SQLValue where Self: RawRepresentable, RawValue == String {
  static var type: SQLType { .text }
  func write(to bytes: inout [UInt8]) -> Bool { rawValue.write(to: &bytes) }

  static func read(_ field: Field) throws -> Self {
    let text = try String.read(field)
    guard let value = Self(rawValue: text) else {
      throw field.unreadable("a \(Self.self): \"\(text.prefix(40))\"")
    }
    return value
  }
}

extension TokenKind: SQLValue {}
extension PushEnvironment: SQLValue {}
extension SessionState: SQLValue {}
extension Participant.Status: SQLValue {}
extension ActivityState.Event: SQLValue {}
extension PhoneReport.State: SQLValue {}
extension BuildRecord.Outcome: SQLValue {}
extension DeliveryRecord.Consequence: SQLValue {}
extension Activity.State: SQLValue {}

import Activities
import Foundation
import Pipeline
import Pushes
import Sessions
import Vocabulary

/// JSON text, kept byte for byte in a text column.
struct JSONText: SQLValue {
  let data: Data

  init(data: Data) { self.data = data }
  init(encoding value: some Encodable) { data = JSON.encoded(value) }

  static var type: SQLType { .text }

  func write(to columns: inout some ColumnWriter) { columns.text(utf8: data) }

  static func read(_ column: some SQLColumn) throws -> JSONText {
    JSONText(data: try column.utf8())
  }

  /// The value; `name` says of what, `a stored session`.
  ///
  /// - Throws: ``StoreError`` when it is JSON of something else.
  func decoded<Value: Decodable>(_ name: String) throws -> Value {
    do {
      return try JSON.decode(Value.self, from: data)
    } catch {
      throw StoreError("the database is damaged: \(name) does not decode: \(error)")
    }
  }
}

extension UnixTime: SQLValue {
  static var type: SQLType { .integer }

  func write(to columns: inout some ColumnWriter) {
    columns.integer(milliseconds)
  }

  static func read(_ column: some SQLColumn) throws -> UnixTime {
    UnixTime(milliseconds: try column.integer())
  }
}

extension Identifier: SQLValue {
  static var type: SQLType { .text }

  func write(to columns: inout some ColumnWriter) { columns.text(text) }

  static func read(_ column: some SQLColumn) throws -> Identifier {
    Identifier(try column.text())
  }
}

// MARK: Text of a form

/// A value that not every text is.
protocol CheckedText: SQLValue {
  /// `a token`.
  static var name: String { get }
  init(checking text: String) throws
  var text: String { get }
}

extension CheckedText {
  static var type: SQLType { .text }

  func write(to columns: inout some ColumnWriter) { columns.text(text) }

  static func read(_ column: some SQLColumn) throws -> Self {
    let text = try column.text()
    do {
      return try Self(checking: text)
    } catch {
      throw column.unreadable("\(name): it \(error)")
    }
  }
}

extension PushToken: CheckedText {
  static var name: String { "a token" }
  init(checking text: String) throws { try self.init(hex: text) }
  var text: String { hex }
}

extension FCMToken: CheckedText {
  static var name: String { "an FCM token" }
  init(checking text: String) throws { try self.init(text) }
}

extension PushEndpoint: CheckedText {
  static var name: String { "an endpoint" }
  init(checking text: String) throws { try self.init(text) }
}

// MARK: Words of a list

extension SQLValue where Self: RawRepresentable, RawValue == String {
  static var type: SQLType { .text }

  func write(to columns: inout some ColumnWriter) { columns.text(rawValue) }

  static func read(_ column: some SQLColumn) throws -> Self {
    let text = try column.text()
    guard let value = Self(rawValue: text) else {
      throw column.unreadable("a \(Self.self): \"\(text.prefix(40))\"")
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
